"""tokenizer.json and model.json: what turns a token model into a text model."""

import hashlib
import json
from pathlib import Path

from .errors import ImportFailure

# Tokens that end an answer whatever the file says (the set that llama.cpp looks for by name).
END_NAMES = ("<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>",
             "<end_of_turn>")


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text_side(folder, source, config, options):
    """`source` is a GGUFSource, or has a `folder`: a Hugging Face one, or None for a graph without
    text."""
    of = _gguf
    if hasattr(source, "folder"):
        of = _hugging_face if source.folder else _no_text
    facts = of(folder, source, options)
    document = {"name": config.name, "architecture": config.architecture,
                "vocab_size": config.vocab, "max_seq_len": config.max_seq,
                "dtype": options.dtype, "page_size": options.page, **facts,
                "sources": [{"file": Path(path).name, "sha256": sha256(path)}
                            for path in source.files]}
    (folder / "model.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n",
                                       encoding="utf-8")


def _is_number(value, kinds, fits):
    return isinstance(value, kinds) and not isinstance(value, bool) and fits(value)


# Of a model's own sampling: what requests may say (docs/requests.md).
SAMPLING = {"temperature": ((int, float), lambda x: 0 <= x < float("inf"), "a number of 0 or more"),
            "top_k": (int, lambda x: 0 <= x < 2**31, "an integer of 0 or more"),
            "top_p": ((int, float), lambda x: 0 < x <= 1, "a number above 0, at most 1"),
            "min_p": ((int, float), lambda x: 0 <= x <= 1, "a number from 0 to 1")}


def _facts(path, template, bos, eos, stops, tokens, sampling):
    """`path` is where they come from."""
    if not isinstance(template, str | None):
        raise ImportFailure(f"{path}: the chat template is a {type(template).__name__}, a text is needed")
    for one in (bos, eos, *stops):
        if one is not None and not _is_number(one, int, lambda x: 0 <= x < 2**31):
            raise ImportFailure(f"{path}: a special token is {one!r}, a token id is needed")
    for name, value in sampling.items():
        kinds, fits, allowed = SAMPLING[name]
        if not _is_number(value, kinds, fits):
            raise ImportFailure(f"{path}: {name} is {value!r}, allowed: {allowed}")
    return {"chat_template": template, "bos_token_id": bos, "eos_token_id": eos,
            "bos_token": tokens(bos), "eos_token": tokens(eos),
            "stop_token_ids": sorted({s for s in stops if s is not None}), "sampling": sampling}


def _no_text(folder, source, options):
    return _facts(source.path, None, None, None, [], lambda i: None, {})


def _gguf(folder, source, options):
    def key(name):
        return source.value(f"tokenizer.ggml.{name}")

    tokens = key("tokens") or []
    stops = [key("eos_token_id"), key("eot_token_id"), key("eom_token_id")]
    types = key("token_type") or []
    stops += [i for i, token in enumerate(tokens)
              if token in END_NAMES and i < len(types) and types[i] == 3]
    if not options.no_tokenizer:
        from .gguf_tokenizer import build_tokenizer
        build_tokenizer(source).save(str(folder / "tokenizer.json"))
    return _facts(source.path, source.value("tokenizer.chat_template"), key("bos_token_id"),
                  key("eos_token_id"), stops,
                  lambda i: tokens[i] if i is not None and i < len(tokens) else None, {})


def _hugging_face(folder, source, options):
    from tokenizers import Tokenizer

    from .hf_reader import read_json
    path = source.folder / "tokenizer.json"
    tokenizer = None
    if not options.no_tokenizer:
        if not path.exists():
            raise ImportFailure(f"{source.path}: lacks tokenizer.json; a Hugging Face folder has "
                                "config.json, tokenizer.json and *.safetensors "
                                "(--no-tokenizer imports the model without a tokenizer)")
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises plain Exception
            raise ImportFailure(f"{path}: not a tokenizer of the tokenizers package: {error}")
        (folder / "tokenizer.json").write_bytes(path.read_bytes())
    settings = read_json(source.folder / "tokenizer_config.json", wanted=False)
    generation = read_json(source.folder / "generation_config.json", wanted=False)
    template = settings.get("chat_template")
    if isinstance(template, list):  # several named ones
        template = next((t.get("template") for t in template if isinstance(t, dict)
                         and t.get("name") == "default"), None)
    jinja = source.folder / "chat_template.jinja"
    if jinja.exists():
        try:
            template = jinja.read_text(encoding="utf-8")
        except ValueError as error:
            raise ImportFailure(f"{jinja}: not UTF-8: {error}")

    def identity(which):
        token = settings.get(f"{which}_token")
        token = token.get("content") if isinstance(token, dict) else token
        found = tokenizer.token_to_id(token) if tokenizer and isinstance(token, str) else None
        return source.raw.get(f"{which}_token_id") if found is None else found

    def listed(value):
        return value or [None] if isinstance(value, list) else [value]

    eos = listed(identity("eos"))[0]
    stops = [eos, *listed(generation.get("eos_token_id")), *listed(source.raw.get("eos_token_id"))]
    if tokenizer:
        stops += [tokenizer.token_to_id(name) for name in END_NAMES]
    sampling = {}
    if generation.get("do_sample"):
        sampling = {k: generation[k] for k in SAMPLING if generation.get(k) is not None}
    return _facts(source.path, template, listed(identity("bos"))[0], eos, stops,
                  lambda i: tokenizer.id_to_token(i) if tokenizer and i is not None else None,
                  sampling)
