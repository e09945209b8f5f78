"""User package for `--t2t_usr_dir=examples/multi30k`: registers the problems in this folder."""

from . import translate_ende_multi30k as translate_ende_multi30k
