"""Tokenizers that are built from the keys of a GGUF file."""

import json

import numpy as np
import pytest

from kv_import.readers.gguf_pre_tokenizers import EXPRESSIONS, pre_tokenizer
from kv_import.readers.gguf_tokenizer import build_tokenizer
from kv_import import synthetic
from tools import KV_IMPORT, run


def byte_level(pre, words=(), **more):
    """Merges that build the given ASCII words from left to right."""
    alphabet, merges, tokens = synthetic.tokens()[:256], [], []
    for word in words:
        for k in range(2, len(word) + 1):
            if word[:k] not in tokens:
                tokens.append(word[:k])
                merges.append(f"{word[:k - 1]} {word[k - 1]}")
    everything = [*alphabet, *tokens, "<bos>", "<user>"]
    types = [1] * (len(everything) - 2) + [3, 4]
    return build_tokenizer("test.gguf", dict(model="gpt2", pre=pre, tokens=everything, token_type=types,
                                merges=merges, bos_token_id=len(everything) - 2, **more))


def cut(pre, text):
    return [text[a:b] for _, (a, b) in pre_tokenizer(pre).pre_tokenize_str(text)]


TEXT = "It's 12345 words,  NOT\n\n  code_1!"


def test_pre_tokenizers_cut_as_the_models_do():
    assert cut("gpt-2", TEXT) == ["It", "'s", " 12345", " words", ",", " ", " NOT", "\n\n ",
                                  " code", "_", "1", "!"]
    assert cut("smollm", TEXT) == ["It", "'s", " ", "1", "2", "3", "4", "5", " words", ",", " ",
                                   " NOT", "\n\n ", " code", "_", "1", "!"]
    assert cut("llama-bpe", TEXT) == ["It", "'s", " ", "123", "45", " words", ",", " ", " NOT",
                                      "\n\n", " ", " code", "_", "1", "!"]
    assert cut("qwen2", TEXT) == ["It", "'s", " ", "1", "2", "3", "4", "5", " words", ",", " ",
                                  " NOT", "\n\n", " ", " code", "_", "1", "!"]


@pytest.mark.parametrize("pre", EXPRESSIONS)
def test_round_trip(pre):
    tokenizer = byte_level(pre, words=["hello", "Ġworld"])
    for text in ("hello world", "a  b\t\n", "naïve 東京 🙂 \u0000\u00a0", TEXT):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.encode("hello world").tokens == ["hello", "Ġworld"]


def test_control_and_user_tokens():
    tokenizer = byte_level("gpt-2")
    ids = tokenizer.encode("a<bos>b<user>").ids
    assert [tokenizer.id_to_token(i) for i in ids] == ["a", "<bos>", "b", "<user>"]
    assert tokenizer.decode(ids) == "ab<user>"  # only control tokens vanish


def test_bos_is_added_when_the_file_says_so():
    tokenizer = byte_level("llama-bpe", add_bos_token=True)
    assert tokenizer.encode("a").tokens == ["<bos>", "a"]
    assert tokenizer.encode("a", add_special_tokens=False).tokens == ["a"]
    assert byte_level("llama-bpe").encode("a").tokens == ["a"]


def sentencepiece(seed):
    """A random vocabulary over a few letters; ids 0..258 are <unk>, <s>, </s> and the bytes."""
    random = np.random.default_rng(seed)
    pieces = ["▁", "a", "b", "c"]
    while len(pieces) < 40:
        piece = pieces[random.integers(len(pieces))] + pieces[random.integers(len(pieces))]
        if piece not in pieces and len(piece) < 7:
            pieces.append(piece)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *pieces]
    types = [2, 3, 3, *[6] * 256, *[1] * len(pieces)]
    scores = [0.0] * 259 + [-float(i) for i in random.permutation(len(pieces))]
    return tokens, types, scores


def merged_by_score(text, scores):
    """SentencePiece's own algorithm: merge the best-scored neighbours until none is a piece."""
    parts = list(text)
    while True:
        best = max(((scores[a + b], -i) for i, (a, b) in enumerate(zip(parts, parts[1:]))
                    if a + b in scores), default=None)
        if best is None:
            return parts
        i = -best[1]
        parts[i:i + 2] = [parts[i] + parts[i + 1]]


@pytest.mark.parametrize("seed", range(8))
def test_sentencepiece(seed):
    tokens, types, scores = sentencepiece(seed)
    tokenizer = build_tokenizer("test.gguf", dict(model="llama", tokens=tokens, token_type=types, scores=scores,
                                     bos_token_id=1))
    table = dict(zip(tokens[259:], scores[259:]))
    random = np.random.default_rng(seed + 100)
    for _ in range(50):
        text = "".join(random.choice(list("aabbc "), size=12)).strip() or "a"
        wanted = merged_by_score("▁" + text.replace(" ", "▁"), table)
        encoded = tokenizer.encode(text)
        assert encoded.tokens == ["<s>", *wanted], text
        assert tokenizer.decode(encoded.ids) == text
    assert tokenizer.encode("aé", add_special_tokens=False).tokens[-2:] == ["<0xC3>", "<0xA9>"]
    assert tokenizer.decode(tokenizer.encode("aé 東").ids) == "aé 東"


def test_model_json_of_both_forms(tmp_path):
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    synthetic.write_gguf(tmp_path / "m.gguf", config, weights)
    facts = []
    for source in (tmp_path / "hf", tmp_path / "m.gguf"):
        done = run(KV_IMPORT, source, "-o", tmp_path / "out", "--name", "n", "--page", "16")
        assert done.returncode == 0, done.stderr
        facts.append(json.loads((tmp_path / "out/model.json").read_text()))
    sources = [f.pop("sources") for f in facts]
    assert facts[0] == facts[1] == {
        "name": "n", "architecture": "llama", "vocab_size": 272, "max_seq_len": 512,
        "dtype": "bf16", "page_size": 16, "chat_template": synthetic.TEMPLATE,
        "bos_token_id": 257, "eos_token_id": 258, "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>", "stop_token_ids": [256, 258], "sampling": {}}
    assert [s["file"] for s in sources[0]] == ["config.json", "model.safetensors"]
    assert len(sources[1][0]["sha256"]) == 64


def test_sampling_and_template_of_a_folder(tmp_path):
    config = synthetic.make_config("llama")
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config))
    (tmp_path / "hf/generation_config.json").write_text(json.dumps(
        {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "eos_token_id": 260}))
    (tmp_path / "hf/chat_template.jinja").write_text("{{ messages }}")
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path / "out").returncode == 0
    facts = json.loads((tmp_path / "out/model.json").read_text())
    assert facts["sampling"] == {"temperature": 0.6, "top_p": 0.95}
    assert facts["stop_token_ids"] == [256, 258, 260]
    assert facts["chat_template"] == "{{ messages }}"
