"""Summaries of news: the highlights that CNN and the Daily Mail print above their articles.

T2T's cnn_dailymail; Hermann et al. (2015), "Teaching Machines to Read and Comprehend", split as by
See et al. (2017), "Get To The Point".
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Any

from absl import logging

from t2t_keras import registry
from t2t_keras.data import archives, sources, text_lines, text_problems
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.vocabularies import vocabulary_of

_LISTS = "https://raw.githubusercontent.com/abisee/cnn-dailymail/master/url_lists"
_LIST_OF_SPLIT = {
    DatasetSplit.TRAIN: "all_train.txt",
    DatasetSplit.EVAL: "all_val.txt",
    DatasetSplit.TEST: "all_test.txt",
}
# Folder of the stories, archive, where a browser gets it.
_STORIES = (
    ("cnn/stories", "cnn_stories.tgz", "0BwmD_VLjROrfTHk4NFg2SndKcjQ"),
    ("dailymail/stories", "dailymail_stories.tgz", "0BwmD_VLjROrfM1BxdkxVaTY2bWs"),
)
_HIGHLIGHT = "@highlight"


@registry.register_problem
class SummarizeCnnDailymail32k(text_problems.Text2TextProblem):
    """Articles to highlights, shared vocabulary of about 32,768 subwords.

    It reads `cnn_stories.tgz` and `dailymail_stories.tgz`, or the folders in them, from tmp_dir.
    """

    is_generate_per_split = True
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 100},
        {"split": DatasetSplit.EVAL, "shards": 10},
        {"split": DatasetSplit.TEST, "shards": 10},
    ]

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the stories of a split, in the order of its list of addresses."""
        del data_dir
        folders = [_story_folder(tmp_dir, *place) for place in _STORIES]
        name = _LIST_OF_SPLIT[dataset_split]
        missing = 0
        for address in text_lines.stripped_lines(sources.fetch(tmp_dir, f"{_LISTS}/{name}")):
            story = f"{hashlib.sha1(address.encode('utf-8')).hexdigest()}.story"
            path = next(filter(os.path.exists, (os.path.join(f, story) for f in folders)), None)
            if path is None:
                missing += bool(address)
                continue
            article, summary = article_and_summary(path)
            if article and summary:
                yield {"inputs": article, "targets": summary}
        if missing:
            logging.warning("%d stories of %s are in none of %s", missing, name, folders)


def _story_folder(tmp_dir: str, folder: str, archive: str, drive_id: str) -> str:
    path = os.path.join(tmp_dir, folder)
    if not os.path.isdir(path):
        archive_path = os.path.join(tmp_dir, archive)
        if not os.path.exists(archive_path):
            raise sources.SourceError(
                f"The stories need {archive_path}. Fetch it with a browser from "
                f"https://drive.google.com/uc?export=download&id={drive_id}"
            )
        archives.unpack(archive_path, tmp_dir)
    return path


def article_and_summary(path: str) -> tuple[str, str]:
    """The article's text and the highlights of a story file, each on one line.

    A highlight is the line after a line `@highlight`; the article is all before the first one.
    Highlights get a full stop if they end without one.
    """
    article: list[str] = []
    highlights: list[str] = []
    is_highlight = False
    for line in text_lines.stripped_lines(path):
        if line == _HIGHLIGHT:
            is_highlight = True
        elif line:
            (highlights if is_highlight else article).append(line)
    sentences = [text if text.endswith((".", "!", "?")) else f"{text} ." for text in highlights]
    return " ".join(article), " ".join(sentences)


@registry.register_problem
class SummarizeCnnDailymailWikiLmSharedVocab(SummarizeCnnDailymail32k):
    """Articles to highlights with the subwords of `languagemodel_en_wiki32k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_en_wiki32k")


@registry.register_problem
class SummarizeCnnDailymailWikiLmSharedVocab64k(SummarizeCnnDailymail32k):
    """Articles to highlights with the subwords of `languagemodel_en_wiki64k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_en_wiki64k")


@registry.register_problem
class SummarizeCnnDailymailWikiLmMultiVocab64k(SummarizeCnnDailymail32k):
    """Articles to highlights with the subwords of `languagemodel_de_en_fr_ro_wiki64k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_de_en_fr_ro_wiki64k")


@registry.register_problem
class SummarizeCnnDailymailMulti64kPacked1k(SummarizeCnnDailymail32k):
    """The same, packed into records of 1,024 ids; prefixes tell the task."""

    packed_length = 1024
    num_training_examples = 252600
    inputs_prefix = "CNN Daily Mail article to summary "
    targets_prefix = "CNN Daily Mail summary to article "
    use_vocab_from_other_problem = vocabulary_of("languagemodel_de_en_fr_ro_wiki64k")
