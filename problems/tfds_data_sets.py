"""Every parallel text of TensorFlow Datasets is a problem: `tfds:<set>/<config>`.

    t2t-datagen --problem=tfds:wmt19_translate/de-en --data_dir=…

German is the source, as the config's name has it; `tfds:wmt19_translate/de-en_rev` is English to
German. `tfds:ted_multi_translate:source=en:target=pt-br` chooses two of many languages,
`tfds:wmt19_translate/de-en:vocab=8192` the size of the vocabulary.
"""

from typing import Any

from t2t_keras import registry


@registry.register_problem_family("tfds")
def tfds_problem(arguments: str) -> Any:
    """The problem class of a TFDS data set; see `t2t_keras.data.tfds_problem`."""
    from t2t_keras.data import tfds_problem

    return tfds_problem.problem_class(arguments)
