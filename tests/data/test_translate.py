import gzip
import itertools
import os

import pytest

from t2t_keras.data import parallel_text, translate
from t2t_keras.data.problem import DatasetSplit


class SmallProblem(translate.TranslateProblem):
    name = "small"
    sources = {
        DatasetSplit.TRAIN: [["", ("train.en", "train.de")]],
        DatasetSplit.EVAL: [["", ("dev.en", "dev.de")]],
        DatasetSplit.TEST: [["", ("dev.en", "dev.de")]],
    }

    def source_data_files(self, dataset_split):
        return self.sources[dataset_split]


def write(folder, **files):
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def samples(problem, tmp_path, split=DatasetSplit.TRAIN):
    found = problem.generate_samples("", str(tmp_path), split)
    return [(sample["inputs"], sample["targets"]) for sample in found]


def test_pairs_without_an_empty_side(tmp_path):
    write(tmp_path, train__en="a \r\n\n c\nd\n", train__de="x\ny\n \nz\u2028z\n")
    assert samples(SmallProblem(), tmp_path) == [("a", "x"), ("d", "z\u2028z")]
    names = sorted(os.listdir(tmp_path))
    assert names == [
        "small-compiled-train.lang1",
        "small-compiled-train.lang2",
        "train.de",
        "train.en",
    ]
    assert (tmp_path / names[1]).read_bytes() == "x\nz\u2028z\n".encode()


def test_compiled_files_are_used_again_until_a_corpus_changes(tmp_path):
    write(tmp_path, train__en="a\n", train__de="x\n")
    problem = SmallProblem()
    samples(problem, tmp_path)
    for suffix in ("lang1", "lang2"):
        (tmp_path / f"small-compiled-train.{suffix}").write_text("from before\n")
    assert samples(problem, tmp_path) == [("from before", "from before")]
    later = os.path.getmtime(tmp_path / "small-compiled-train.lang1") + 5
    os.utime(tmp_path / "train.de", (later, later))
    assert samples(problem, tmp_path) == [("a", "x")]


def test_one_compiled_file_alone_is_not_used(tmp_path):
    write(tmp_path, train__en="a\n", train__de="x\n")
    (tmp_path / "small-compiled-train.lang1").write_text("half\n")
    assert samples(SmallProblem(), tmp_path) == [("a", "x")]


@pytest.mark.parametrize("counts", [(2, 4), (4, 2)])
def test_unequal_files_are_an_error_that_leaves_nothing(tmp_path, counts):
    write(tmp_path, train__en="a\n" * counts[0], train__de="x\n" * counts[1])
    with pytest.raises(ValueError, match=f"{counts[0]} lines in .*, {counts[1]} lines in"):
        samples(SmallProblem(), tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["train.de", "train.en"]


def test_unequal_files_can_be_cut_as_in_t2t(tmp_path):
    class Cut(SmallProblem):
        cut_to_shorter = True

    write(tmp_path, train__en="a\nb\n", train__de="x\n")
    assert samples(Cut(), tmp_path) == [("a", "x")]


def test_test_split_shares_the_compiled_dev_files_only_if_it_is_the_same(tmp_path):
    class OwnTest(SmallProblem):
        sources = {**SmallProblem.sources, DatasetSplit.TEST: [["", ("test.en", "test.de")]]}

    write(tmp_path, dev__en="a\n", dev__de="x\n", test__en="b\n", test__de="y\n")
    for problem in (SmallProblem(), OwnTest()):
        assert samples(problem, tmp_path, DatasetSplit.EVAL) == [("a", "x")]
    assert samples(SmallProblem(), tmp_path, DatasetSplit.TEST) == [("a", "x")]
    assert not (tmp_path / "small-compiled-test.lang1").exists()
    assert samples(OwnTest(), tmp_path, DatasetSplit.TEST) == [("b", "y")]


SGM = """<srcset setid="x" srclang="any">
<doc docid="1">
<p>
<seg id="1">{first}</seg>
</p>
<seg id="2"> {second} </seg>
</doc>
</srcset>
"""


def test_sgm_gives_its_segments(tmp_path):
    class Sgm(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", ("a.en.sgm", "a.de.sgm")]]}

    write(tmp_path, a__en__sgm=SGM.format(first="A & B", second="C"))
    write(tmp_path, a__de__sgm=SGM.replace("src", "ref").format(first="X", second="Z"))
    assert samples(Sgm(), tmp_path) == [("A & B", "X"), ("C", "Z")]


def test_sgm_on_one_side_only(tmp_path):
    class Mixed(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", ("a.sgm", "a.de")]]}

    write(tmp_path, a__sgm=SGM.format(first="A", second="C"), a__de="x\nz\n")
    assert samples(Mixed(), tmp_path) == [("A", "x"), ("C", "z")]


def test_empty_segments_keep_the_alignment(tmp_path):
    class Sgm(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", ("a.en.sgm", "a.de.sgm")]]}

    write(tmp_path, a__en__sgm=SGM.format(first="", second="C"))
    write(tmp_path, a__de__sgm=SGM.format(first="X", second="Z"))
    assert samples(Sgm(), tmp_path) == [("C", "Z")]


@pytest.mark.parametrize(
    "content, expected",
    [
        ("<seg>one</seg> <seg id='2'>two</seg>\n", ["one", "two"]),
        ("<tuv><seg>one</seg></tuv>\r\n", ["one"]),
        ("<seg>\nover\nlines </seg>\n<seg>b</seg>", ["over lines", "b"]),
        ("<seg>a\u2028b\x85c\x0bd</seg>\n", ["a\u2028b\x85c\x0bd"]),
        ("<segment>none</segment>\n", []),
    ],
)
def test_segments_wherever_they_stand(tmp_path, content, expected):
    write(tmp_path, a=content)
    assert list(parallel_text.segments(str(tmp_path / "a"))) == expected


@pytest.mark.parametrize("content", ["x\n<seg>one\n", "x\n<seg>one\n<seg>two</seg>\n"])
def test_unclosed_segment_is_named_by_line(tmp_path, content):
    write(tmp_path, a=content)
    with pytest.raises(ValueError, match="a, line 2: .*not closed"):
        list(parallel_text.segments(str(tmp_path / "a")))


@pytest.mark.parametrize("first_line", ['<srcset setid="x">', "<?xml version='1.0'?>", "<!DOCTYPE"])
@pytest.mark.parametrize("side", ["train__en", "train__de"])
def test_markup_given_as_text_is_refused(tmp_path, first_line, side):
    lines = f"{first_line}\nb\n"
    write(tmp_path, **{"train__en": "a\nb\n", "train__de": "x\ny\n", side: lines})
    with pytest.raises(ValueError, match=rf"{side.replace('__', '.')}, line 1, is markup"):
        samples(SmallProblem(), tmp_path)


def test_lines_with_foreign_line_ends_marks_and_carriage_returns_stay_aligned(tmp_path):
    english = "\ufeffone\x0btwo\r\nthree\u2028four\r\nfive\x85six\r\n"
    write(tmp_path, train__en=english, train__de="x\ny\nz\n")
    assert samples(SmallProblem(), tmp_path) == [
        ("one\x0btwo", "x"),
        ("three\u2028four", "y"),
        ("five\x85six", "z"),
    ]


@pytest.mark.parametrize("kind", ["txt", "sgm", "tsv", "tmx"])
def test_invalid_utf8_is_named_by_file_and_line(tmp_path, kind):
    names = {
        "txt": ("bad", "good"),
        "sgm": ("bad.sgm", "good"),
        "tsv": ("tsv", 0, 1, "bad"),
        "tmx": ("tmx", "bad"),
    }[kind]
    bad = tmp_path / ("bad.sgm" if kind == "sgm" else "bad")
    bad.write_bytes(b"<seg>a</seg>\tb\n<seg>\xff</seg>\tb\n")
    (tmp_path / "good").write_text("x\ny\n")

    class Bad(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", names]]}

    with pytest.raises(ValueError, match=r"bad.*, line 2, is not valid UTF-8"):
        samples(Bad(), tmp_path)
    assert not list(tmp_path.glob("*compiled*"))


def test_tsv_columns_of_all_matching_files(tmp_path):
    class Tsv(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", ("tsv", 3, 2, "part*.tsv*")]]}

    write(tmp_path, part2__tsv="0\t1\t de2 \ten2\nno tab\n", other__tsv="a\tb\tc\td\n")
    write(tmp_path, part1__tsv__gz=gzip.compress(b"0\t1\tde1\ten1\t5\n0\t1\t\ten\n"))
    assert samples(Tsv(), tmp_path) == [("en1", "de1"), ("en2", "de2")]


def test_tsv_with_too_few_columns(tmp_path):
    write(tmp_path, a="one\ttwo\n")
    with pytest.raises(ValueError, match="line 1, needs at least 3 columns. Received: 2"):
        list(parallel_text.tsv_pairs(str(tmp_path / "a"), 0, 2))


TMX = """<tu>
 <tuv xml:lang="en"><prop type="x">y</prop>
  <seg>A &amp; &quot;B&quot;</seg>
 </tuv>
 <tuv xml:lang="de">
  <seg>X &amp;lt; & apos;Z& apos;</seg>
 </tuv>
</tu>
"""


@pytest.mark.parametrize("packed", [False, True])
def test_tmx_segments_alternate(tmp_path, packed):
    class Tmx(SmallProblem):
        sources = {DatasetSplit.TRAIN: [["", ("tmx", "a.tmx.gz" if packed else "a.tmx")]]}

    if packed:
        write(tmp_path, a__tmx__gz=gzip.compress(TMX.encode()))
    else:
        write(tmp_path, a__tmx=TMX)
    assert samples(Tmx(), tmp_path) == [('A & "B"', "X < 'Z'")]


def test_tmx_with_an_odd_segment(tmp_path):
    write(tmp_path, a__tmx="<seg>1</seg>\n<seg>2</seg>\n<seg>3</seg>\n")
    with pytest.raises(ValueError, match="odd number"):
        list(parallel_text.tmx_pairs(str(tmp_path / "a.tmx")))


def vocabulary_lines(tmp_path, budget, *names):
    return list(translate.generate_lines_for_vocab(str(tmp_path), [["", names]], budget))


@pytest.mark.parametrize("budget", [7, 8, 10, 25, 50, 99, 100, 250, 1000])
def test_vocabulary_lines_against_the_definition(tmp_path, budget):
    lines = [f"line{number:03d} é" for number in range(60)]
    write(tmp_path, a="".join(line + "\n" for line in lines))
    skip = int(os.path.getsize(tmp_path / "a") / budget / 2)
    expected = []
    left = budget
    for line in lines[skip :: skip + 1]:
        if left <= 0:
            break
        left -= len(line)
        expected.append(line)
    assert expected  # The case means something.
    assert vocabulary_lines(tmp_path, budget, "a") == expected


def test_vocabulary_budget_is_per_file_and_empty_lines_count_nothing(tmp_path):
    write(tmp_path, a="aaaa\n\n bb\ncc\n", b="x\n")
    assert vocabulary_lines(tmp_path, 5, "a", "b") == ["", "cc", "x"]
    assert vocabulary_lines(tmp_path, 100, "b", "a") == ["x", "aaaa", "", "bb", "cc"]


def test_vocabulary_from_other_kinds_is_refused(tmp_path):
    for files in (("tsv", 0, 1, "*"), ("tmx", "a.tmx")):
        with pytest.raises(ValueError, match="vocab_data_files"):
            vocabulary_lines(tmp_path, 100, *files)


def test_vocabulary_of_the_problem_samples_its_corpora(tmp_path):
    class Sampled(SmallProblem):
        vocab_file_byte_budget = 10

    write(tmp_path, train__en="abcde\n" * 20, train__de="x\n")
    lines = list(Sampled().generate_text_for_vocab("", str(tmp_path)))
    assert lines == ["abcde", "abcde", "x"]


def test_only_the_training_corpora_of_the_given_kinds_are_cleaned(tmp_path):
    class Clean(SmallProblem):
        datatypes_to_clean = ["txt"]
        sources = {
            DatasetSplit.TRAIN: [["", ("a.en", "a.de")], ["", ("tsv", 0, 1, "a.tsv")]],
            DatasetSplit.EVAL: [["", ("a.en", "a.de")]],
        }

    write(tmp_path, a__en="Good one.\nno sentence\n", a__de="Gut.\nkeiner\n", a__tsv="x\ty\n")
    assert samples(Clean(), tmp_path) == [("Good one.", "Gut."), ("x", "y")]
    assert samples(Clean(), tmp_path, DatasetSplit.EVAL) == [
        ("Good one.", "Gut."),
        ("no sentence", "keiner"),
    ]


def test_generation_is_lazy(tmp_path):
    write(tmp_path, train__en="a\nb\n", train__de="x\ny\n")
    found = SmallProblem().generate_samples("", str(tmp_path), DatasetSplit.TRAIN)
    assert next(itertools.islice(found, 1, None)) == {"inputs": "b", "targets": "y"}
