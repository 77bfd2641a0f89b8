"""What numbers are stored as, and the file that they are written to."""
