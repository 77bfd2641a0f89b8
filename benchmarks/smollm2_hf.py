"""smollm2_hf.py FILE.gguf FOLDER: the model of a GGUF file (llama) as a Hugging Face folder: config.json,
model.safetensors in bf16, tokenizer.json. What has no GGUF reader takes SmolLM2 so."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools/kv-import"))
from kv_import.readers.gguf_reader import GGUFSource  # noqa: E402
from kv_import.readers.gguf_tokenizer import build_tokenizer  # noqa: E402
from kv_import.synthetic import write_hf  # noqa: E402


def write(path, folder):
    source = GGUFSource(path)
    tokens = {f"{which}_token_id": source.value(f"tokenizer.ggml.{which}_token_id")
              for which in ("bos", "eos")}
    write_hf(folder, source.config, {weight.name: source.tensor(weight.name)
                                     for weight in source.config.weights() if weight.role != "table"},
             settings=tokens)
    tokenizer = build_tokenizer(source)
    tokenizer.save(str(Path(folder) / "tokenizer.json"))
    (Path(folder) / "tokenizer_config.json").write_text("{}\n")
    (Path(folder) / "generation_config.json").write_text("{}\n")


if __name__ == "__main__":
    write(*sys.argv[1:])
