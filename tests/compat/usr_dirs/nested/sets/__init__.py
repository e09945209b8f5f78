from tensor2tensor.models.transformer import transformer_test
from tensor2tensor.utils.registry import register_hparams


@register_hparams
def transformer_nested():
    hparams = transformer_test()
    hparams.set_hparam("batch_size", 256)
    return hparams
