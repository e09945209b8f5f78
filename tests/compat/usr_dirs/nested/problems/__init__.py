from . import language_model
from . import sentiment
