"""Sub-packages: a language model and a classifier; a set beside them."""

from nested import problems
from . import sets
