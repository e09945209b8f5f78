"""Bases of all text problems, under tensor2tensor's module name."""

from t2t_keras.data.chopped_text import ChoppedTextProblem, DistributedText2TextProblem
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import Text2TextProblem, VocabType, text2text_generate_encoded
from t2t_keras.data.text_iterators import (
    text2class_txt_iterator,
    text2real_txt_iterator,
    text2self_txt_iterator,
    text2text_distill_iterator,
    text2text_txt_iterator,
    text2text_txt_tab_iterator,
    txt_line_iterator,
    txt_tab_iterator,
)
from t2t_keras.data.text_problem_kinds import (
    QuestionAndContext2TextProblem,
    Text2ClassProblem,
    Text2RealProblem,
    Text2SelfProblem,
)
from t2t_keras.data.tmpdir_problems import Text2textTmpdir, Text2textTmpdirTokens

__all__ = [
    "ChoppedTextProblem",
    "DatasetSplit",
    "DistributedText2TextProblem",
    "QuestionAndContext2TextProblem",
    "Text2ClassProblem",
    "Text2RealProblem",
    "Text2SelfProblem",
    "Text2TextProblem",
    "Text2textTmpdir",
    "Text2textTmpdirTokens",
    "VocabType",
    "text2class_txt_iterator",
    "text2real_txt_iterator",
    "text2self_txt_iterator",
    "text2text_distill_iterator",
    "text2text_generate_encoded",
    "text2text_txt_iterator",
    "text2text_txt_tab_iterator",
    "txt_line_iterator",
    "txt_tab_iterator",
]
