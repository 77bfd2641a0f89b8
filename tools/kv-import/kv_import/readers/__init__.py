"""Files as people publish them: Hugging Face folders, GGUF files, tokenizers."""
