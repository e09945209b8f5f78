"""Registered Keras models.

`MODEL_MODULES` declares them: the registry lists these names and imports a module when its model is
first asked for, so that listing needs no TensorFlow.
"""

MODEL_MODULES = {
    "transformer": "t2t_keras.models.transformer",
    "transformer_encoder": "t2t_keras.models.transformer_encoder",
    "transformer_regressor": "t2t_keras.models.transformer_encoder",
    "transformer_scorer": "t2t_keras.models.transformer_scorer",
}
