"""What kv-import wrote, and the compiled module beside it."""

import json
from pathlib import Path

from tokenizers import Tokenizer

from .errors import GenerateFailure


class ModelFolder:
    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise GenerateFailure(f"{folder}: no such folder; kv-import writes one")
        self.weights = self._file("weights.safetensors", "kv-import writes it")
        self.artifact = self._file("model.so", "`kv-compile model.mlir -o model.so` writes it")
        path = self._file("model.json", "kv-import writes it")
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            self.name = facts["name"]
            self.template = facts["chat_template"]
            self.special = {"bos_token": facts["bos_token"] or "",
                            "eos_token": facts["eos_token"] or ""}
            self.stops = list(facts["stop_token_ids"])
            self.sampling = dict(facts["sampling"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise GenerateFailure(f"{path}: not what kv-import writes: "
                                  f"{type(error).__name__}: {error}")
        path = self._file("tokenizer.json", "kv-import writes it")
        try:
            self.tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises plain Exception
            raise GenerateFailure(f"{path}: not a tokenizer: {error}")

    def _file(self, name, origin):
        path = self.folder / name
        if not path.is_file():
            raise GenerateFailure(f"{self.folder}: lacks {name}; {origin}")
        return path
