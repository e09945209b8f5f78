"""One training step and many of them: losses, optimizers, checkpoints, loop."""

# Names of optimizers and the module that registers each when it is imported. Declared here so that
# they can be listed without loading Keras.
OPTIMIZER_MODULES = {
    "adam": "t2t_keras.training.optimizers",
    "true_adam": "t2t_keras.training.optimizers",
    "momentum": "t2t_keras.training.optimizers",
    "sgd": "t2t_keras.training.optimizers",
}
