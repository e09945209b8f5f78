"""Worker: training steps of tensor2tensor's Transformer on TensorFlow 1, on the CPU."""

import numpy as np
import tensorflow
import worker
from tensor2tensor import models  # noqa: F401 (registers them)
from tensor2tensor.data_generators import problem
from tensor2tensor.layers import modalities
from tensor2tensor.utils import registry, t2t_model
from tensorflow.python.autograph.core import ag_ctx

tf = tensorflow.compat.v1


def main():
    """Builds the graph and serves."""
    work = worker.parse_arguments(__doc__)
    tf.logging.set_verbosity(tf.logging.ERROR)
    hparams = registry.hparams(work.hparams_set)
    hparams.batch_size = work.sentences * work.length
    problem_hparams = problem._default_hparams()
    symbol = modalities.ModalityType.SYMBOL
    problem_hparams.modality = {"inputs": symbol, "targets": symbol}
    problem_hparams.vocab_size = {"inputs": work.vocabulary, "targets": work.vocabulary}
    tf.train.get_or_create_global_step()
    t2t_model.create_dummy_vars()
    model = registry.model("transformer")(hparams, "train", problem_hparams=problem_hparams)
    inputs, targets = (tf.placeholder(tf.int32, [None, None, 1, 1]) for _ in range(2))
    with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED):
        _, losses = model({"inputs": inputs, "targets": targets})
    loss = sum(losses[name] for name in sorted(losses))
    update = model.optimize(loss)
    random = np.random.RandomState(0)
    shape = (work.sentences, work.length, 1, 1)
    feed = {side: random.randint(2, work.vocabulary, shape) for side in (inputs, targets)}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        worker.serve(
            lambda: session.run([loss, update], feed),
            version="tensor2tensor, tensorflow " + tensorflow.__version__,
            parameters=sum(int(np.prod(v.shape.as_list())) for v in tf.trainable_variables()),
        )


if __name__ == "__main__":
    main()
