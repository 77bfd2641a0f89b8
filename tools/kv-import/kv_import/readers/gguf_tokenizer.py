"""The tokenizer inside a GGUF file as a tokenizer.json of the `tokenizers` package."""

import contextlib
import os
import signal

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers
from tokenizers.processors import ByteLevel, Sequence, TemplateProcessing

from ..model.errors import ImportFailure
from .gguf_pre_tokenizers import EXPRESSIONS, WHOLE, normalizer, pre_tokenizer

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
LONGEST = 4096  # characters of a token: the work on a score grows with their square


@contextlib.contextmanager
def _quiet():
    """Without the report that the package's Rust code writes to standard error when it panics."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def made(make, what):
    """What the package makes; a failure with the sentence `what` and the reason where it gives up."""
    try:
        with _quiet():
            return make()
    except (KeyboardInterrupt, SystemExit, ImportFailure):
        raise
    except BaseException as error:  # it raises plain Exception, and of a panic a BaseException
        raise ImportFailure(f"{what}: {' '.join(str(error).split())}")


def made_of_file(make, what):
    """The same of a file that the package reads: there are some that end its process."""
    child = os.fork()
    if child == 0:
        try:
            with _quiet():
                make()
        finally:  # of an exception the parent says what it is
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise ImportFailure(f"{what}: the package ends with {signal.Signals(os.WTERMSIG(status)).name}")
    return made(make, what)


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


def build_tokenizer(path, keys):
    """A Tokenizer from the keys tokenizer.ggml.* of the file `path`, by their names there."""
    return made(lambda: _build(path, keys), f"{path}: no tokenizer can be made of the keys tokenizer.ggml.*")


def _build(path, keys):
    def get(key):
        if key not in keys:
            raise ImportFailure(f"{path}: lacks the key tokenizer.ggml.{key}; "
                                "--no-tokenizer imports the model without a tokenizer")
        return keys[key]

    def refuse(what, found, allowed):
        raise ImportFailure(f"{path}: {what} is {found!r}; supported are {allowed} (--no-tokenizer imports the "
                            "model without a tokenizer)")

    def same_number(key):
        """A list with an entry a token."""
        if len(get(key)) != len(tokens):
            raise ImportFailure(f"{path}: tokenizer.ggml.{key} has {len(keys[key])} entries for {len(tokens)} "
                                "tokens")
        return keys[key]

    kind, tokens = get("model"), get("tokens")
    if max(map(len, tokens), default=0) > LONGEST:
        raise ImportFailure(f"{path}: a token of tokenizer.ggml.tokens has {max(map(len, tokens))} characters; "
                            f"at most {LONGEST} are supported")
    types = same_number("token_type") if "token_type" in keys else [NORMAL] * len(tokens)
    vocab = {token: i for i, token in enumerate(tokens) if types[i] != UNUSED}
    if kind == "gpt2":
        if (pre := keys.get("pre", "default")) not in EXPRESSIONS:
            refuse("the pre-tokenizer", pre, ", ".join(EXPRESSIONS))
        tokenizer = _bpe(vocab, get("merges"), pre)
    elif kind == "llama":
        tokenizer = _sentencepiece(vocab, tokens, same_number("scores"), _token(path, keys, "unknown_token_id", 0),
                                   keys.get("add_space_prefix", True))
    else:
        refuse("the tokenizer model", kind, "gpt2 and llama")
    # All of a kind at once: each call makes the search for them anew.
    for special, add in ((True, tokenizer.add_special_tokens), (False, tokenizer.add_tokens)):
        add([AddedToken(token, special=special, normalized=False) for token, type_ in zip(tokens, types)
             if type_ == (CONTROL if special else USER_DEFINED)])
    if keys.get("add_bos_token", kind == "llama") and "bos_token_id" in keys:
        _add_bos(tokenizer, _token(path, keys, "bos_token_id"), keys["bos_token_id"])
    return tokenizer


def _token(path, keys, key, default=None):
    """The text of the token that a key names."""
    number, tokens = keys.get(key, default), keys["tokens"]
    if number >= len(tokens):
        raise ImportFailure(f"{path}: tokenizer.ggml.{key} is {number}; the vocabulary has {len(tokens)} tokens")
    return tokens[number]


def _bpe(vocab, merges, pre):
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=pairs, fuse_unk=False, ignore_merges=pre in WHOLE))
    if form := normalizer(pre):
        tokenizer.normalizer = form
    tokenizer.pre_tokenizer = pre_tokenizer(pre)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = ByteLevel(trim_offsets=False)
    return tokenizer


def _sentencepiece(vocab, tokens, scores, unknown, prefix):
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=_merges_of_scores(tokens, scores),
                                     unk_token=unknown, fuse_unk=True, byte_fallback=True))
    space = [normalizers.Prepend("▁")] if prefix else []
    tokenizer.normalizer = normalizers.Sequence([*space, normalizers.Replace(" ", "▁")])
    strip = [decoders.Strip(content=" ", left=1, right=0)] if prefix else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), *strip])
    return tokenizer


def _add_bos(tokenizer, token, number):
    """Encoding starts with the BOS token."""
    template = TemplateProcessing(single=[token, "$A"], pair=[token, "$A", "$B:1"],
                                  special_tokens=[(token, number)])
    first = tokenizer.post_processor
    tokenizer.post_processor = Sequence([first, template]) if first else template
