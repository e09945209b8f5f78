"""SavedModels that take and return strings."""
