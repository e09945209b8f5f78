"""From a trained model to text: searches, files, data sets, interactive use."""
