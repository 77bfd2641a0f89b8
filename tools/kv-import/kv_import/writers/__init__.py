"""The module of a model, function by function."""
