"""`t2t-decoder` on a run of T2T writes the files that T2T's program wrote."""

import shutil

import pytest

from tests.end_to_end.t2t_run import Run
from tests.reference_data import golden_path, load_golden_json

pytestmark = [pytest.mark.reference, pytest.mark.end_to_end]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("run"))


def test_only_output_dir_and_file_are_needed(run):
    source = run.folder / "inputs.txt"
    shutil.copyfile(golden_path("decoder_cli", "inputs.txt"), source)
    run.command("t2t-decoder", f"--decode_from_file={source}")
    name = "inputs.txt.transformer.transformer_golden.golden_reverse.beam4.alpha0.6.decodes"
    expected = golden_path("decoder_cli", "out_beam4.txt").read_text(encoding="utf-8")
    assert (run.folder / name).read_text(encoding="utf-8") == expected


@pytest.mark.parametrize("order_of_batches", [True, False])
def test_data_set_beside_its_targets_and_inputs(run, order_of_batches):
    run.command(
        "t2t-decoder",
        "--decode_hparams=beam_size=2,num_samples=12,keep_pad_ids=True,"
        f"order_of_batches={order_of_batches}",
        f"--decode_to_file={run.folder}/ds_out",
    )
    stem = "ds_out.transformer.transformer_golden.golden_reverse.beam2.alpha0.6."

    def rows(folder):
        columns = [
            (folder / (stem + suffix)).read_text(encoding="utf-8").split("\n")
            for suffix in ("inputs", "targets", "decodes")
        ]
        return list(zip(*columns, strict=True))

    # T2T writes them in the order of its batches by length.
    found, recorded = rows(run.folder), rows(golden_path("decoder_cli"))
    assert found == recorded if order_of_batches else sorted(found) == sorted(recorded)


def test_scores_of_targets(run):
    (run.folder / "pairs.txt").write_text("red dog\tdog red\nred dog\tred red red\n")
    run.command(
        "t2t-decoder",
        f"--score_file={run.folder}/pairs.txt",
        f"--decode_to_file={run.folder}/scores.txt",
    )
    likely, unlikely = map(float, (run.folder / "scores.txt").read_text().split())
    assert 0 < likely < unlikely


def test_named_checkpoint_gives_its_time_and_a_reference_bleu(run):
    expected = golden_path("decoder_cli", "out_beam4.txt")
    (checkpoint,) = run.output_dir.glob("*.index")
    done = run.command(
        "t2t-decoder",
        f"--checkpoint_path={str(checkpoint).removesuffix('.index')}",
        f"--decode_from_file={golden_path('decoder_cli', 'inputs.txt')}",
        f"--decode_to_file={run.folder}/out.txt",
        f"--decode_reference={expected}",
        "--keep_timestamp",
    )
    assert "BLEU_cased = 100.00" in done.stderr
    assert (run.folder / "out.txt").stat().st_mtime == checkpoint.stat().st_mtime
    assert list((run.output_dir / "decode").glob("events*"))


def test_first_recorded_sentence_by_hand(run):
    """Greedy decoding with --decode_hparams, of one sentence."""
    recorded = load_golden_json("toy_ckpt", "decodes.json.gz")
    greedy = next(r for r in recorded["runs"] if r["beam_size"] == 1 and "single" in r)
    (run.folder / "one.txt").write_text(recorded["inputs"][0]["text"])
    run.command(
        "t2t-decoder",
        f"--decode_from_file={run.folder}/one.txt",
        f"--decode_to_file={run.folder}/one.out",
        f"--decode_hparams=beam_size=1,extra_length={greedy['extra_length']}",
    )
    assert (run.folder / "one.out").read_text() == greedy["single"][0]["text"] + "\n"
