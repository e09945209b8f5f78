"""tensor2tensor's Transformer system on TensorFlow 2 and Keras 3.

The package itself imports nothing heavy: `import t2t_keras` does not load TensorFlow.
"""

__version__ = "0.1.0"
