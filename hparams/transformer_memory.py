"""Language models over long texts and images that are read in chunks, with a memory of the last.

Relative positions and the memory of Transformer-XL (Dai et al., 2019). `memory_type` and the chunks
belong to T2T's model transformer_memory; `transformer` refuses them.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed, extended
from t2t_keras.hparams.transformer import transformer_big
from t2t_keras.hparams.transformer_tpu import with_shared_dropout


@registry.register_hparams
def transformer_wikitext103_l4k_v0() -> HParams:
    """WikiText-103 in pieces of 4,096 symbols, without memory."""
    return with_shared_dropout(
        changed(
            transformer_big(),
            optimizer="Adafactor",
            learning_rate_schedule="rsqrt_decay",
            learning_rate_warmup_steps=10000,
            num_heads=4,
            max_length=4096,
            batch_size=4096,
            shared_embedding_and_softmax_weights=False,
            num_hidden_layers=8,
            layer_prepostprocess_dropout=0.2,
            label_smoothing=0.0,
            symbol_modality_num_shards=1,
        )
    )


def _with_chunks(hparams: HParams, max_length: int, chunk_length: int, rows: int) -> HParams:
    """Cuts every text into chunks; `rows` texts are read in parallel, chunk by chunk."""
    return changed(
        hparams,
        max_length=max_length,
        batch_size=rows * max_length,
        split_targets_chunk_length=chunk_length,
        split_targets_max_chunks=max_length // chunk_length,
        split_targets_strided_training=True,
    )


@registry.register_hparams
def transformer_wikitext103_l4k_memory_v0() -> HParams:
    """WikiText-103 in pieces of 4,096 symbols, read in 64 chunks of 64."""
    hparams = transformer_wikitext103_l4k_v0()
    # Not the type of the hyperparameter, hence by assignment.
    hparams.pos = None
    changed(
        hparams,
        self_attention_type="dot_product_relative",
        max_relative_position=2 * 64,
    )
    extended(
        hparams,
        memory_type="transformer_xl",
        num_memory_items=64,
        # 0: as batch_size and the length of the chunks give it.
        recurrent_memory_batch_size=0,
        unconditional=True,
    )
    return _with_chunks(hparams, max_length=4096, chunk_length=64, rows=64)


@registry.register_hparams
def transformer_wikitext103_l16k_memory_v0() -> HParams:
    """WikiText-103 in pieces of 16,384 symbols, read in 256 chunks of 64."""
    hparams = transformer_wikitext103_l4k_memory_v0()
    return _with_chunks(hparams, max_length=16384, chunk_length=64, rows=64)


def _image_memory(
    size: int, rows: int, num_memory_chunks: int, max_relative_position: int
) -> HParams:
    """Images of `size` × `size` pixels, three symbols each, in chunks of 64 pixels.

    `batch_size` counts images.
    """
    chunk_length = 64 * 3
    hparams = transformer_wikitext103_l4k_memory_v0()
    hparams = _with_chunks(hparams, size * size * 3, chunk_length, rows)
    return changed(
        hparams,
        batch_size=rows,
        recurrent_memory_batch_size=rows,
        num_hidden_layers=6,
        num_memory_items=num_memory_chunks * chunk_length,
        max_relative_position=max_relative_position,
    )


@registry.register_hparams
def transformer_cifar10_memory_v0() -> HParams:
    """CIFAR-10 images of 32 × 32 pixels, symbol after symbol."""
    return _image_memory(size=32, rows=64, num_memory_chunks=2, max_relative_position=576)


@registry.register_hparams
def transformer_imagenet64_memory_v0() -> HParams:
    """ImageNet images of 64 × 64 pixels, symbol after symbol."""
    return _image_memory(size=64, rows=128, num_memory_chunks=2, max_relative_position=3072)
