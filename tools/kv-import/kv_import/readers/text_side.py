"""tokenizer.json and model.json: what turns a token model into a text model."""

import hashlib
import json
from pathlib import Path

from ..model.checks import regular_file
from ..model.errors import ImportFailure
from .gguf_tokenizer import made_of_file
from ..model.schema import Generation, SpecialTokens, checked

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


# Of a model's own sampling: what requests may say (docs/reference/requests.md).
SAMPLING = ("temperature", "top_k", "top_p", "min_p")


def _check_utf8(path, what, text):
    """JSON can hold half of a surrogate pair, which no file of ours can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ImportFailure(f"{path}: {what} has half of a surrogate pair; UTF-8 is needed")


def _facts(source, template, bos, eos, stops, tokens, sampling):
    """`tokens(id)`: the text of a token."""
    if not isinstance(template, str | None):
        raise ImportFailure(f"{source.path}: the chat template is a {type(template).__name__}, a text is needed")
    _check_utf8(source.path, "the chat template", template or "")
    vocab = source.config.vocab
    for name, one in (("bos_token_id", bos), ("eos_token_id", eos)):
        if one is not None and one >= vocab:
            raise ImportFailure(f"{source.path}: {name} is {one}; the vocabulary has {vocab} tokens")
    return {"chat_template": template, "bos_token_id": bos, "eos_token_id": eos,
            "bos_token": tokens(bos), "eos_token": tokens(eos),
            "stop_token_ids": sorted({s for s in stops if s is not None and s < vocab}),
            "sampling": sampling}


def _no_text(folder, source, options):
    return _facts(source, None, None, None, [], lambda i: None, {})


def _gguf(folder, source, options):
    keys = source.tokenizer
    tokens, types = keys.get("tokens", []), keys.get("token_type", [])
    stops = [keys.get(f"{kind}_token_id") for kind in ("eos", "eot", "eom")]
    stops += [i for i, token in enumerate(tokens)
              if token in END_NAMES and i < len(types) and types[i] == 3]
    if not options.no_tokenizer:
        from .gguf_tokenizer import build_tokenizer
        build_tokenizer(source.path, keys).save(str(folder / "tokenizer.json"))
    return _facts(source, source.parts.general.get("tokenizer.chat_template"), keys.get("bos_token_id"),
                  keys.get("eos_token_id"), stops,
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
        regular_file(path)
        tokenizer = made_of_file(lambda: Tokenizer.from_file(str(path)),
                                 f"{path}: not a tokenizer of the tokenizers package")
        (folder / "tokenizer.json").write_bytes(path.read_bytes())
    settings = read_json(source.folder / "tokenizer_config.json", wanted=False)
    said = source.folder / "generation_config.json"
    generation = checked(Generation, read_json(said, wanted=False), said)
    template = settings.get("chat_template")
    if isinstance(template, list):  # several named ones
        template = next((t.get("template") for t in template if isinstance(t, dict)
                         and t.get("name") == "default"), None)
    jinja = source.folder / "chat_template.jinja"
    if jinja.exists():
        regular_file(jinja)
        try:
            template = jinja.read_text(encoding="utf-8")
        except ValueError as error:
            raise ImportFailure(f"{jinja}: not UTF-8: {error}")

    # Of the part of config.json that describes text, whose type has been checked for a known family alone.
    ids = checked(SpecialTokens, source.raw, source.folder / "config.json")

    def identity(which):
        token = settings.get(f"{which}_token")
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            _check_utf8(source.folder / "tokenizer_config.json", f"{which}_token", token)
        found = tokenizer.token_to_id(token) if tokenizer and isinstance(token, str) else None
        return ids.get(f"{which}_token_id") if found is None else found

    def listed(value):
        return value or [None] if isinstance(value, list) else [value]

    eos = listed(identity("eos"))[0]
    stops = [eos, *listed(generation.get("eos_token_id")), *listed(ids.get("eos_token_id"))]
    if tokenizer:
        stops += [tokenizer.token_to_id(name) for name in END_NAMES]
    sampling = {}
    if generation.get("do_sample"):
        sampling = {k: generation[k] for k in SAMPLING if k in generation}
    return _facts(source, template, listed(identity("bos"))[0], eos, stops,
                  lambda i: tokenizer.id_to_token(i) if tokenizer and i is not None else None,
                  sampling)
