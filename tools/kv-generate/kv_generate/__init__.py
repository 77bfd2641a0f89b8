"""Text in, text out around kv-run."""
