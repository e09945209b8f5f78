"""Training runs of tensor2tensor on TensorFlow 1, brought here and back."""
