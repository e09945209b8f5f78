"""The set of the embedded demo: a Transformer that two CPU cores train in minutes."""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import transformer_tiny


@registry.register_hparams
def transformer_demo() -> HParams:
    """Two layers of width 128 for `translate_ende_demo`, about 2,000 subwords, short sentences."""
    return changed(
        transformer_tiny(),
        batch_size=2048,
        max_length=64,
        learning_rate_warmup_steps=400,
        layer_prepostprocess_dropout=0.05,
        attention_dropout=0.0,
        relu_dropout=0.0,
    )
