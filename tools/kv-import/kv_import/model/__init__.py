"""What a model is: its configuration, its family, and what may be wrong with either."""
