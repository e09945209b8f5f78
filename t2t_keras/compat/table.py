"""What of tensor2tensor leads where: its modules, the names in them, and their places here.

Names are listed rather than passed through, so that what is supported is known (and documented)
without importing anything. `Everything` stands for the public names of modules that grow: problems
and models.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import NamedTuple

ROOT = "tensor2tensor"


class Names(NamedTuple):
    """Names taken from one module; `theirs=ours` if they differ."""

    module: str
    names: tuple[str, ...]

    def renamed(self) -> dict[str, str]:
        """Name in tensor2tensor -> name in `module`."""
        return {name.partition("=")[0]: name.rpartition("=")[2] for name in self.names}


class Everything(NamedTuple):
    """All public names that a module defines."""

    module: str


class Sets(NamedTuple):
    """The functions of registered hyperparameter sets and ranges, by the names of the sets."""

    prefix: str


Source = Names | Everything | Sets


def _names(module: str, names: str) -> Names:
    return Names(f"t2t_keras.{module}", tuple(names.split()))


_ENCODERS = _names(
    "text.encoders",
    """PAD EOS PAD_ID EOS_ID RESERVED_TOKENS NUM_RESERVED_TOKENS strip_ids TextEncoder
    ByteTextEncoder TokenTextEncoder ClassLabelEncoder RealEncoder""",
)
_CREATE_HPARAMS = _names("hparams_lib", "create_hparams add_problem_hparams")

# By module of tensor2tensor, without its first part.
MODULES: dict[str, tuple[Source, ...]] = {
    "data_generators": (),
    "data_generators.algorithmic": (
        Everything("t2t_keras.problems.algorithmic"),
        Everything("t2t_keras.problems.algorithmic_arithmetic"),
    ),
    "data_generators.all_problems": (),
    "data_generators.generator_utils": (
        _names(
            "compat.generator_utils",
            """combined_data_filenames dev_data_filenames generate_dataset_and_shuffle
            get_or_generate_tabbed_vocab get_or_generate_txt_vocab get_or_generate_vocab
            get_or_generate_vocab_inner gunzip_file maybe_download outputs_exist shard_filepath
            sharded_name test_data_filenames train_data_filenames write_records""",
        ),
        _names("data.problem", "UNSHUFFLED_SUFFIX"),
        _names("data.records", "generate_files read_records shuffle_dataset to_example"),
        _names("data.packing", "pack_examples"),
        _names("data.translate", "generate_lines_for_vocab"),
    ),
    "data_generators.problem": (
        _names("data.problem", "DatasetSplit Problem SpaceID default_model_hparams"),
        _names("data.preprocessing", "preprocess_example_common=preprocess_example"),
    ),
    "data_generators.problem_hparams": (
        _names("compat.problem_hparams", "TestProblem test_problem_hparams"),
    ),
    "data_generators.text_encoder": (
        _ENCODERS,
        _names("text.subwords", "SubwordTextEncoder"),
        _names(
            "compat.text_encoder",
            "is_unicode native_to_unicode to_unicode to_unicode_ignore_errors to_unicode_utf8 "
            "unicode_to_native",
        ),
    ),
    "data_generators.text_problems": (
        _names(
            "data.text_problems",
            """ChoppedTextProblem DistributedText2TextProblem QuestionAndContext2TextProblem
            Text2ClassProblem Text2RealProblem Text2SelfProblem Text2TextProblem VocabType
            text2class_txt_iterator text2real_txt_iterator text2self_txt_iterator
            text2text_distill_iterator text2text_generate_encoded text2text_txt_iterator
            text2text_txt_tab_iterator txt_line_iterator txt_tab_iterator""",
        ),
        _names("problems.text2text", "Text2textTmpdir Text2textTmpdirTokens"),
    ),
    "data_generators.tokenizer": (
        _names("text.tokenizer", "encode decode corpus_token_counts vocab_token_counts"),
    ),
    "data_generators.translate": (
        _names("data.translate", "TranslateProblem compile_data"),
        _names("data.translate_distill", "TranslateDistillProblem"),
    ),
    "data_generators.wsj_parsing": (Everything("t2t_keras.problems.parsing"),),
    "layers": (),
    "layers.common_hparams": (
        _names("hparams.basic", "basic_params1"),
        _names("ranged_hparam", "RangedHParams"),
    ),
    "layers.modalities": (_names("data.modes", "ModalityType"),),
    "models": (),
    "models.research": (),
    "models.transformer": (
        _names("models.transformer", "Transformer"),
        _names("hparams.transformer_tpu", "update_hparams_for_tpu"),
        Sets("transformer"),
    ),
    "problems": (_names("registry", "problem available=list_problems"),),
    "utils": (),
    "utils.bleu_hook": (_names("evaluation.bleu", "bleu_tokenize bleu_wrapper compute_bleu"),),
    "utils.decoding": (_names("decoding.decode_hparams", "decode_hparams"),),
    "utils.hparam": (_names("hparam", "HParams"),),
    "utils.hparams_lib": (
        _CREATE_HPARAMS,
        _names("hparams_lib", "copy_hparams create_hparams_from_json"),
    ),
    "utils.learning_rate": (_names("training.schedules", "learning_rate_schedule"),),
    "utils.metrics": (
        _names("metric_names", "Metrics"),
        _names(
            "training.metrics",
            """METRICS_FNS padded_accuracy padded_accuracy_top5 padded_sequence_accuracy
            padded_neg_log_perplexity""",
        ),
    ),
    "utils.misc_utils": (
        _names("names", "camelcase_to_snakecase snakecase_to_camelcase"),
        _names("compat.misc_utils", "pprint_hparams"),
    ),
    "utils.registry": (
        _names(
            "registry",
            """Registries Registry attack attack_params base_problem default_name
            display_list_by_prefix env_problem get_problem_name help_string hparams
            list_attack_params list_attacks list_base_problems list_env_problems list_hparams
            list_models list_optimizers list_problems list_pruning_params list_pruning_strategies
            list_ranged_hparams model optimizer parse_problem_name problem pruning_params
            pruning_strategy ranged_hparams register_attack register_attack_params
            register_base_problem register_env_problem register_hparams register_model
            register_optimizer register_problem register_pruning_params register_pruning_strategy
            register_ranged_hparams""",
        ),
    ),
    "utils.rouge": (_names("evaluation.rouge", "rouge_n rouge_l_sentence_level"),),
    "utils.trainer_lib": (_CREATE_HPARAMS,),
    "utils.usr_dir": (_names("usr_dir", "import_usr_dir"),),
}

# What is left out on purpose, and what to do instead; by module and everything below it.
LEFT_OUT = {
    "layers.common_attention": "Its functions build TensorFlow 1 graphs; the Keras layers in "
    "t2t_keras.layers take their place.",
    "layers.common_layers": "Its functions build TensorFlow 1 graphs; keras.ops, keras.layers and "
    "t2t_keras.layers take their place.",
    "layers.transformer_layers": "Its functions build TensorFlow 1 graphs; the Keras layers of "
    "t2t_keras.models.transformer_stacks take their place.",
    "models.mtf_transformer": "Mesh TensorFlow is not supported.",
    "mesh_tensorflow": "Mesh TensorFlow is not supported.",
    "rl": "Reinforcement learning is not supported.",
    "trax": "Trax is a project of its own (pip install trax).",
    "utils.optimize": "Register a function (learning_rate, hparams) that returns a Keras optimizer "
    "with registry.register_optimizer.",
    "utils.t2t_model": "T2TModel builds TensorFlow 1 graphs; derive from "
    "tensor2tensor.models.transformer.Transformer, or register a keras.Model.",
}


def sources(module: str) -> tuple[Source, ...] | None:
    """Where the names of a module come from.

    Args:
        module: dotted name of a module of tensor2tensor, `tensor2tensor.…`.

    Returns:
        The sources, none for a package of modules; None if the module isn't provided.
    """
    if module == ROOT:
        return ()
    path = module.removeprefix(f"{ROOT}.")
    if path in MODULES:
        return MODULES[path]
    package, _, name = path.rpartition(".")
    ours = _modules_of_same_name(package).get(name)
    return (Everything(ours),) if ours else None


def _modules_of_same_name(package: str) -> dict[str, str]:
    """This project's modules that a package has under their own names: problems and models."""
    if package == "data_generators":
        problems = importlib.import_module("t2t_keras.problems")
        names = [info.name for info in pkgutil.iter_modules(problems.__path__)]
        return {name: f"{problems.__name__}.{name}" for name in names}
    if package in ("models", "models.research"):
        declared = importlib.import_module("t2t_keras.models").MODEL_MODULES.values()
        return {module.rpartition(".")[2]: module for module in declared}
    return {}


def submodules(package: str) -> list[str]:
    """Names of the modules in a package `tensor2tensor[.…]`, without the package's name, sorted."""
    path = package.removeprefix(ROOT).removeprefix(".")
    parents = [(name.rpartition(".")[0], name.rpartition(".")[2]) for name in MODULES]
    listed = {name for parent, name in parents if parent == path}
    return sorted(listed | set(_modules_of_same_name(path)))


def reason_left_out(module: str) -> str:
    """Why a module, or one above it, isn't provided; empty if there's nothing special to say."""
    path = module.removeprefix(f"{ROOT}.")
    for left_out, reason in LEFT_OUT.items():
        if path == left_out or path.startswith(f"{left_out}."):
            return reason
    return ""
