"""Every command, given flags that can't work: one message, at once, and nothing is written.

All of it in this process, where importing TensorFlow would fail.
"""

import re

import pytest

pytestmark = pytest.mark.usefixtures("files")

BLEU = {
    "": "either --translation .* or --translations_dir",
    "--translation=file": "not given: --reference",
    "--translation=absent --reference=file": "--translation doesn't exist. Received: absent",
    "--translation=folder --reference=file": "--translation is a directory, not a file",
    "--translation=file --reference=folder": "--reference is a directory, not a file",
    "--translation=file --reference=shorter": "1 lines in shorter, 2 in file",
    "--translation=empty --reference=empty": "nothing to score",
    "--translation=file --translations_dir=folder --reference=file": "either",
    "--translation=file --reference=file --bleu_variant=x": "one of cased, uncased, both.*'x'",
    "--translations_dir=folder --reference=file": "--event_dir is missing",
    "--translations_dir=absent --reference=file --event_dir=new": "translations_dir doesn't exist",
    "--translations_dir=file --reference=file --event_dir=new": "is a file, not a directory",
    "--translations_dir=folder --reference=file --event_dir=file": "--event_dir: .*is a file",
    "--translations_dir=folder --reference=file --event_dir=new": "nothing to score: no file",
    "--translations_dir=folder --reference=file --event_dir=new --min_steps=-2": "-1 or more.*-2",
    "--translations_dir=folder --reference=file --event_dir=new --wait_minutes=-1": "0 or more",
    "--translaton=file": "Did you mean: translation",
}
DATAGEN = {
    "": "--problem is missing",
    "--problem=translate_ende_wmt32": "Did you mean: translate_ende_wmt32k",
    "--problem=translate_ende_demo --data_dir=file": "--data_dir: .*is a file, not a directory",
    "--problem=translate_ende_demo --data_dir=new --tmp_dir=file/sub": "--tmp_dir: .*is a file",
    "--problem=translate_ende_demo --tmp_dir=": "not given: --tmp_dir",
    "--problem=text2text_tmpdir --data_dir=new --tmp_dir=new/tmp": "Missing: new/tmp/inputs.train",
    "--problem=text2text_tmpdir:vocab=x --data_dir=new": "Received: 'x'",
    "--problem=translate_ende_demo --num_concurrent_processes=0": "1 or more. Received: 0",
    "--problem=translate_ende_demo --num_shards=x": "--num_shards must be a whole number.*'x'",
    "--problem=translate_ende_demo --text_source=x": "one of auto, archives, tfds. Received: 'x'",
    "--problem=translate_ende_demo --tfds_manual_dir=absent": "tfds_manual_dir doesn't exist",
    "--problem=translate_ende_demo --task_id_start=3 --task_id_end=4": "isn't made of tasks",
    "--problem=translate_ende_demo --task_id=3 --task_id_end=4": "either --task_id, or",
    "--problem=translate_ende_demo --beam_option=x": "needs --beam_runner",
}
BUILD_VOCAB = {
    "": "not given: --problem",
    "--problem=translate_ende_wmt32": "Did you mean: translate_ende_wmt32k",
    "--problem=text2text_tmpdir --data_dir=": "not given: --data_dir",
    "--problem=text2text_tmpdir --data_dir=file": "--data_dir: .*is a file",
    "--problem=text2text_tmpdir --data_dir=new --tmp_dir=new/tmp": "Missing: new/tmp/inputs.train",
    "--problem=text2text_tmpdir --text_source=x": "Received: 'x'",
}
SUBWORDS = {
    "": "exactly one of",
    "--corpus_filepattern=file --vocab_filepattern=file": "exactly one of",
    "--corpus_filepattern=absent*": "no file matches. Received: absent",
    "--corpus_filepattern=folder": "is a directory, not a file",
    "--corpus_filepattern=file --output_filename=folder": "--output_filename is a directory",
    "--corpus_filepattern=file --output_filename=file/sub": "--output_filename: .*is a file",
    "--corpus_filepattern=file --output_filename=": "not given: --output_filename",
    "--corpus_filepattern=file --output_filename=new --min_count=0": "1 or more. Received: 0",
    "--corpus_filepattern=file --output_filename=new --corpus_max_lines=-1": "0 or more",
    "--corpus_filepattern=empty --output_filename=new": "no words.*Received: empty",
    "--vocab_filepattern=file --output_filename=new": "no words.*Received: file",
}
INSPECT = {
    "": "either --input_filename, or --problem",
    "--problem=translate_ende_demo": "not given: --data_dir",
    "--problem=translate_ende_demo --data_dir=absent": "--data_dir doesn't exist",
    "--problem=translate_ende_demo --data_dir=file": "--data_dir is a file, not a directory",
    "--problem=translate_ende_demo --data_dir=folder --split=x": "one of train, dev, test.*'x'",
    "--problem=translate_ende_dmo --data_dir=folder": "Did you mean: translate_ende_demo",
    "--input_filename=absent*": "no file matches. Received: absent",
    "--input_filename=folder": "is a directory, not a file",
    "--input_filename=file --max_length=0": "must be a whole number, 1 or more. Received: '0'",
    "--input_filename=file --plot=folder": "--plot is a directory",
    "--input_filename=file --subword_text_encoder_filename=absent": "doesn't exist",
    "--input_filename=file --byte_text_encoder --token_text_encoder_filename=file": "Only one",
}
MAKE_TF_CONFIGS = {
    "": "--workers=host1:port",
    "--workers=a": "host:port.*Received: a",
    "--workers=a:70000": "from 1 to 65535. Received: a:70000",
    "--workers=a:1,a:1": "twice",
    "--workers=a:1 --worker_gpu=0": "1 or more. Received: 0",
    "--workers=a:1 --worker_gpu=x": "must be a whole number. Received: 'x'",
    "--workers=a:1 --ps=b:1": "neither --masters nor --ps",
    "--masters=a:1": "both --masters and --ps",
    "--masters=a:1 --ps=a:1": "can't have one address. Received: a:1",
}
AVG_ALL = {
    "": "not given: --model_dir",
    "--model_dir=absent": "--model_dir doesn't exist. Received: absent",
    "--model_dir=file": "--model_dir is a file, not a directory",
    "--model_dir=folder": "no checkpoint in this directory. Received: folder",
    "--model_dir=folder --output_dir=": "not given: --output_dir",
    "--model_dir=folder --output_dir=file": "--output_dir: .*is a file",
    "--model_dir=folder --output_dir=folder/.": "--output_dir must not be --model_dir",
    "--model_dir=folder --n=0": "--n must be 1 or more. Received: 0",
    "--model_dir=folder --min_steps=-1": "0 or more. Received: -1",
    "--model_dir=folder --wait_minutes=x": "--wait_minutes must be a whole number. Received: 'x'",
}
MIGRATION = {
    "": "not given: --model_dir, --output_dir",
    "--model_dir=folder": "not given: --output_dir",
    "--model_dir=absent --output_dir=new": "--model_dir doesn't exist. Received: absent",
    "--model_dir=file --output_dir=new": "--model_dir is a file, not a directory",
    "--model_dir=folder --output_dir=new": "no checkpoint in this directory. Received: folder",
    "--model_dir=folder --output_dir=file/sub": "--output_dir: .*is a file",
    "--model_dir=folder --output_dir=new --checkpoint_path=x": "x.index doesn't exist",
    "--model_dir=run --output_dir=run": "--output_dir already has checkpoints",
    "--model_dir=run --output_dir=new --data_dir=absent": "--data_dir doesn't exist",
    "--model_dir=run --output_dir=new --problem=wsj_parsin": "Did you mean: wsj_parsing",
    "--model_dir=run --output_dir=new --model=transfomer": "Did you mean: transformer",
    "--model_dir=run --output_dir=new --hparams_set=transformer_tyny": "mean: transformer_tiny",
}
DEMO = {
    "--work_dir=file": "--work_dir: .*is a file, not a directory",
    "--work_dir=": "not given: --work_dir",
    "--train_steps=0 --work_dir=new": "a whole number, 1 or more. Received: '0'",
}

TABLES = {
    "t2t_bleu": BLEU,
    "t2t_datagen": DATAGEN,
    "build_vocab": BUILD_VOCAB,
    "text_encoder_build_subword": SUBWORDS,
    "t2t_inspect": INSPECT,
    "t2t_make_tf_configs": MAKE_TF_CONFIGS,
    "t2t_avg_all": AVG_ALL,
    "t2t_import_checkpoint": MIGRATION,
    "t2t_export_checkpoint": MIGRATION,
    "t2t_demo": DEMO,
}


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [(program, *row) for program, table in TABLES.items() for row in table.items()],
)
def test_refused_at_once_with_one_message(refusal, program, arguments, message):
    assert re.search(message, refusal(program, *arguments.split()))
