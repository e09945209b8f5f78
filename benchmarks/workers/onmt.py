"""Worker: training steps of OpenNMT-tf's Transformer on TensorFlow 2, on the CPU."""

import os
import tempfile

import numpy as np
import opennmt
import tensorflow as tf
import worker


def make_model(work):
    """The Transformer with one table for both embeddings and the softmax, and its optimizer."""

    def embedder():
        return opennmt.inputters.WordEmbedder(embedding_size=work.width)

    model = opennmt.models.Transformer(
        embedder(),
        embedder(),
        num_layers=work.layers,
        num_units=work.width,
        num_heads=work.heads,
        ffn_inner_dim=work.filter,
        dropout=0.1,
        attention_dropout=0.1,
        ffn_dropout=0.1,
        share_embeddings=opennmt.models.EmbeddingsSharingLevel.ALL,
    )
    parameters = {
        "label_smoothing": 0.1,
        "optimizer": "Adam",
        "learning_rate": 1e-4,
        "optimizer_params": {"beta_1": 0.9, "beta_2": 0.98, "epsilon": 1e-9},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocabulary.txt")
        # One entry more is made for unknown words.
        entries = ["<blank>", "<s>", "</s>"] + [f"t{i}" for i in range(work.vocabulary - 4)]
        with open(path, "w") as stream:
            stream.write("\n".join(entries) + "\n")
        model.initialize({"source_vocabulary": path, "target_vocabulary": path}, params=parameters)
        optimizer = model.get_optimizer()
        model.create_variables(optimizer=optimizer)
    return model, optimizer


def main():
    """Builds the model and serves."""
    work = worker.parse_arguments(__doc__)
    model, optimizer = make_model(work)
    if work.xla:
        model.set_jit_compile(True)
    random = np.random.default_rng(0)
    shape = (work.sentences, work.length)
    inputs, targets = (random.integers(3, work.vocabulary - 1, shape) for _ in range(2))
    lengths = tf.fill([work.sentences], work.length)
    source = {
        "ids": tf.constant(inputs, tf.int64),
        "length": lengths,
        "tokens": tf.fill(shape, "t1"),
    }
    shifted = np.concatenate([np.ones((work.sentences, 1)), targets[:, :-1]], 1)
    target = {
        "ids": tf.constant(shifted, tf.int64),
        "ids_out": tf.constant(targets, tf.int64),
        "length": lengths,
    }

    @tf.function
    def update(source, target):
        with tf.GradientTape() as tape:
            outputs, _ = model(source, labels=target, training=True, step=optimizer.iterations)
            loss = model.compute_loss(outputs, target, training=True)
            loss = loss[0] / loss[1] if isinstance(loss, tuple) else loss
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    worker.serve(
        lambda: update(source, target).numpy(),
        version=f"OpenNMT-tf {opennmt.__version__}, tensorflow {tf.__version__}",
        parameters=sum(int(np.prod(v.shape)) for v in model.trainable_variables),
    )


if __name__ == "__main__":
    main()
