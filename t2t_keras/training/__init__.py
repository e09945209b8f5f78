"""One training step and many of them: losses, optimizers, checkpoints, loop."""

# Names of optimizers and the module that registers each when it is imported. Declared here so that
# they can be listed without loading Keras.
OPTIMIZER_MODULES = dict.fromkeys(
    (
        "adafactor",
        "adagrad",
        "adam",
        "adam_w",
        "ftrl",
        "momentum",
        "multistep_adam",
        "rms_prop",
        "sgd",
        "true_adam",
        "yellow_fin",
    ),
    "t2t_keras.training.optimizers",
)
