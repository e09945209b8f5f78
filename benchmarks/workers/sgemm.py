"""Worker: the speed of float32 matrix products, by NumPy's and TensorFlow's library."""

import worker


def main():
    """Serves."""
    from t2t_keras.bin import environment

    environment.prepare_environment()
    environment.load_tensorflow()
    import numpy as np
    import tensorflow as tf

    random = np.random.default_rng(0)
    a, b = (random.normal(size=(2048, 2048)).astype(np.float32) for _ in range(2))
    c, d = tf.constant(a), tf.constant(b)

    def peak():
        return {
            "numpy": worker.best_gflops(lambda: a @ b),
            "tensorflow": worker.best_gflops(lambda: tf.matmul(c, d).numpy()),
        }

    worker.serve(None, peak)


if __name__ == "__main__":
    main()
