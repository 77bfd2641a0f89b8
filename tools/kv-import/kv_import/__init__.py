"""Model files (GGUF, Hugging Face folders) to a module, weights and a tokenizer."""
