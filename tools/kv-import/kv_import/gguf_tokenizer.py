"""The tokenizer inside a GGUF file as a tokenizer.json of the `tokenizers` package."""

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import ByteLevel, Sequence, TemplateProcessing

from .errors import ImportFailure

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

# How text is cut before merging: the expressions of the models' own tokenizer.json.
_WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def _byte_level(*before, regex=False):
    return pre_tokenizers.Sequence(
        [*before, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)])


def _split(pattern):
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated")


PRE_TOKENIZERS = {
    "gpt-2": lambda: _byte_level(regex=True),
    "smollm": lambda: _byte_level(pre_tokenizers.Digits(individual_digits=True), regex=True),
    "llama-bpe": lambda: _byte_level(_split(_WORDS % "{1,3}")),
    "qwen2": lambda: _byte_level(_split(_WORDS % "")),
}


def _merges_of_scores(tokens, scores):
    """SentencePiece merges whatever gives the best-scored piece; as BPE that is the list of
    all splits of a piece into two pieces, by falling score of the whole."""
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, score in zip(tokens, scores):
        splits = [(token[:k], token[k:]) for k in range(1, len(token))
                  if token[:k] in ids and token[k:] in ids]
        splits.sort(key=lambda pair: (ids[pair[0]], ids[pair[1]]))
        merges += [(score, pair) for pair in splits]
    merges.sort(key=lambda entry: -entry[0])
    return [pair for _, pair in merges]


def build_tokenizer(source):
    """A Tokenizer from the keys tokenizer.ggml.*."""
    def get(key, default=None):
        value = source.value(f"tokenizer.ggml.{key}", default)
        if value is None:
            raise ImportFailure(f"{source.path}: lacks the key tokenizer.ggml.{key}; "
                                "--no-tokenizer imports the model without a tokenizer")
        return value

    kind, tokens = get("model"), get("tokens")
    types = get("token_type", [NORMAL] * len(tokens))
    if len(types) != len(tokens):
        raise ImportFailure(f"{source.path}: tokenizer.ggml.token_type has {len(types)} entries "
                            f"for {len(tokens)} tokens")
    vocab = {token: i for i, token in enumerate(tokens) if types[i] != UNUSED}
    try:
        if kind == "gpt2":
            tokenizer = _bpe(source, vocab, get("merges"), get("pre", "default"))
        elif kind == "llama":
            tokenizer = _sentencepiece(source, vocab, tokens, get("scores"))
        else:
            tokenizer = None
    except ImportFailure:
        raise
    except Exception as error:  # the package raises plain Exception
        raise ImportFailure(f"{source.path}: no tokenizer can be made of the keys "
                            f"tokenizer.ggml.*: {error}")
    if tokenizer is None:
        raise ImportFailure(f"{source.path}: the tokenizer model is {kind!r}; supported are gpt2 "
                            "and llama (--no-tokenizer imports the model without a tokenizer)")
    for i, token in enumerate(tokens):
        if types[i] in (CONTROL, USER_DEFINED):
            added = AddedToken(token, special=types[i] == CONTROL, normalized=False)
            (tokenizer.add_special_tokens if added.special else tokenizer.add_tokens)([added])
    _add_bos(source, tokenizer, tokens, kind)
    return tokenizer


def _bpe(source, vocab, merges, pre):
    if pre not in PRE_TOKENIZERS:
        raise ImportFailure(f"{source.path}: the pre-tokenizer is {pre!r}; supported are "
                            f"{', '.join(PRE_TOKENIZERS)} (--no-tokenizer imports the model "
                            "without a tokenizer)")
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=pairs, fuse_unk=False,
                                     ignore_merges=pre == "llama-bpe"))
    if pre == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre]()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = ByteLevel(trim_offsets=False)
    return tokenizer


def _sentencepiece(source, vocab, tokens, scores):
    unknown = source.value("tokenizer.ggml.unknown_token_id", 0)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=_merges_of_scores(tokens, scores),
                                     unk_token=tokens[unknown], fuse_unk=True,
                                     byte_fallback=True))
    prefix = source.value("tokenizer.ggml.add_space_prefix", True)
    space = [normalizers.Prepend("▁")] if prefix else []
    tokenizer.normalizer = normalizers.Sequence([*space, normalizers.Replace(" ", "▁")])
    strip = [decoders.Strip(content=" ", left=1, right=0)] if prefix else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), *strip])
    return tokenizer


def _add_bos(source, tokenizer, tokens, kind):
    """Encoding starts with the BOS token when the file says so."""
    bos = source.value("tokenizer.ggml.bos_token_id")
    if bos is None or not source.value("tokenizer.ggml.add_bos_token", kind == "llama"):
        return
    template = TemplateProcessing(single=f"{tokens[bos]} $A", pair=f"{tokens[bos]} $A $B:1",
                                  special_tokens=[(tokens[bos], bos)])
    first = tokenizer.post_processor
    tokenizer.post_processor = Sequence([first, template]) if first else template
