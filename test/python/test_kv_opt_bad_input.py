"""kv-opt on text that is not, or not quite, a module: an exit status of 0, or of 1 with a diagnostic.
Never a crash, never a hang.

The corpus is every module of test/, and models of several kinds. KV_BAD_INPUT is how many texts are tried (300 unless given;
scripts/fuzz-text.sh tries more), KV_BAD_INPUT_SEED where they start."""

import os
import random
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import conftest  # noqa: F401  where kv_import lies
import pytest
from kv_import import synthetic
from kv_import.writers.module_writer import ModuleWriter

from tools import ROOT, find

KV_OPT = find("kv-opt")
COUNT = int(os.environ.get("KV_BAD_INPUT", 300))
SEED = int(os.environ.get("KV_BAD_INPUT_SEED", 0))
CORPUS = [part for path in sorted((ROOT / "test").rglob("*.mlir"))
          for part in path.read_text().split("// -----") if "func" in part or "!kv" in part]
MODELS = [ModuleWriter(synthetic.make_config(kind, layers=2), "f32", 16).text()
          for kind in ("llama", "qwen3", "gemma3", "qwen3_moe", "deepseek_v2", "qwen3_next")]
PIPELINES = ([], ["--kv-cpu=mcpu=x86-64-v3"], ["--kv-cuda"], ["--kv-reference"],
             ["--kv-expand-collections", "--kv-resolve-collections", "--canonicalize", "--cse",
              "--kv-lint-order"])

TOKEN = re.compile(r'"[^"\n]*"|[%@#!^][\w.$-]+|[A-Za-z_][\w.$]*|-?\d+(?:\.\d+)?|->|\S')
NUMBERS = ("0", "1", "-1", "3", "16", "?", "4294967296", "9223372036854775807", "1.5", "x")
TYPES = ("f32", "bf16", "f16", "f64", "i32", "i8", "i1", "index", "none", "f8E4M3FN", "!kv",
         "memref<?xi32>", "tensor<*xf32>", "tensor<?xi32>", "!llvm.ptr", "vector<4xf32>")


def whole(r, text):
    """Bytes that are no text."""
    return bytes(r.randrange(256) for _ in range(r.randrange(400)))


def cut(r, text):
    return text[:r.randrange(len(text))]


def bytes_changed(r, text):
    data = bytearray(text.encode())
    for _ in range(r.randint(1, 8)):
        data[r.randrange(len(data))] = r.randrange(256)
    return bytes(data)


def token_changed(r, text):
    """One token by another: a number by a number, a type by a type, a name by a name of the text."""
    tokens = list(TOKEN.finditer(text))
    found = r.choice(tokens)
    word = found.group()
    if re.fullmatch(r"-?\d+(\.\d+)?", word):
        new = r.choice(NUMBERS)
    elif word in TYPES or word in ("tensor", "memref"):
        new = r.choice(TYPES)
    else:
        kind = word[0] if word[0] in '%@#!^"' else ""
        same = [t.group() for t in tokens if t.group().startswith(kind) and t.group() != word]
        new = r.choice(same or [""])
    return text[:found.start()] + new + text[found.end():]


def shape_changed(r, text):
    """One size within a shape, or the rank."""
    sizes = list(re.finditer(r"(?<=[<x])(\?|\d+)x", text))
    if not sizes:
        return token_changed(r, text)
    found = r.choice(sizes)
    return text[:found.start()] + r.choice(("?x", "1x", "2x", "0x", "7x", "")) + text[found.end():]


def token_removed(r, text):
    found = r.choice(list(TOKEN.finditer(text)))
    return text[:found.start()] + text[found.end():]


def operand_removed(r, text):
    """An operand with its comma."""
    found = r.choice(list(re.finditer(r"%[\w#]+,? ?", text)) or [re.match("", text)])
    return text[:found.start()] + text[found.end():]


def line_moved(r, text):
    lines = text.splitlines(keepends=True)
    line = lines.pop(r.randrange(len(lines)))
    lines.insert(r.randrange(len(lines) + 1), line)
    return "".join(lines)


def line_repeated(r, text):
    lines = text.splitlines(keepends=True)
    lines.insert(r.randrange(len(lines)), r.choice(lines))
    return "".join(lines)


def attribute_changed(r, text):
    """What stands behind an equals sign."""
    found = list(re.finditer(r"(?<== )[^,}\s)]+", text))
    if not found:
        return token_changed(r, text)
    at = r.choice(found)
    new = r.choice((*NUMBERS, *TYPES, '"text"', "[]", "unit", "@f", "true", "dense<0>"))
    return text[:at.start()] + new + text[at.end():]


CHANGES = (whole, cut, bytes_changed, token_changed, token_changed, token_changed, shape_changed,
           shape_changed, token_removed, operand_removed, operand_removed, line_moved,
           line_repeated, attribute_changed)


def changed(seed):
    """A text and the passes that it is given to."""
    r = random.Random(seed)
    text = r.choice(r.choice((CORPUS, CORPUS, CORPUS, MODELS)))
    data = r.choice(CHANGES)(r, text)
    if isinstance(data, str):
        data = data.encode()
    return data, r.choice(PIPELINES)


def problem(seed):
    data, passes = changed(seed)
    command = [KV_OPT, "-", *passes, "--mlir-disable-threading", "-o", os.devnull]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=300)
    except subprocess.TimeoutExpired:
        return seed, "takes more than 300 s"
    if done.returncode == 0:
        return None
    if done.returncode == 1 and b"error:" in done.stderr:
        return None
    return seed, f"exit status {done.returncode}, {done.stderr[-400:].decode(errors='replace')}"


def test_every_change_changes():
    """The mutations reach the parser, the verifiers and the passes: none is idle."""
    for change in CHANGES:
        texts = [change(random.Random(seed), CORPUS[seed % len(CORPUS)]) for seed in range(20)]
        assert sum(text != CORPUS[seed % len(CORPUS)] for seed, text in enumerate(texts)) > 10, change


@pytest.mark.parametrize("passes", PIPELINES, ids=lambda p: " ".join(p) or "parse")
def test_the_corpus_is_as_good(passes):
    """Unchanged texts are under the same rule."""
    for text in CORPUS[::len(PIPELINES)]:
        done = subprocess.run([KV_OPT, "-", *passes, "-o", os.devnull], input=text.encode(),
                              capture_output=True, timeout=300)
        assert done.returncode in (0, 1), (text, done.stderr)


def test_every_index_of_a_model():
    """Constants that operations use as numbers of dimensions, layers and rows, one by one."""
    text = MODELS[0]
    def run(at, number, passes):
        data = text[:at.start()] + number + text[at.end():]
        done = subprocess.run([KV_OPT, "-", passes, "--mlir-disable-threading", "-o", os.devnull],
                              input=data.encode(), capture_output=True, timeout=300)
        good = done.returncode == 0 or done.returncode == 1 and b"error:" in done.stderr
        return None if good else f"{number} at {at.start()}, {passes}: {done.returncode}"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tried = [pool.submit(run, at, number, passes)
                 for at in re.finditer(r"(?<=arith.constant )\d+(?= : index)", text)
                 for number, passes in (("-1", "--kv-cpu"), ("7", "--kv-cpu"), (str(2**63 - 1), "--kv-reference"))]
        assert len(tried) >= 8 and not [one for one in (each.result() for each in tried) if one]


def test_changed_texts():
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [p for p in pool.map(problem, range(SEED, SEED + COUNT)) if p]
    assert not problems, "\n".join(f"seed {seed}: {text}" for seed, text in problems)


def main():
    """Prints the text of a seed and the passes."""
    import sys
    data, passes = changed(int(sys.argv[1]))
    print(" ".join(passes), file=sys.stderr)
    sys.stdout.buffer.write(data)


if __name__ == "__main__":
    main()
