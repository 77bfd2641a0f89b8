"""Random changes of graphs, raised, and executed against the changed graph itself: no wrong raise.

    python mutants.py COUNT [SEED [PROCESSES]]   # for test_raise_mutants.py, and for long runs"""

import functools
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
import host  # noqa: E402
from graphs import as_wanted  # noqa: E402
from tools import ROOT, find, manifest  # noqa: E402

# One operation, with a window or chunks, and spelled out with sinks: a window and a cap, and a multiple of the
# position.
BASES = tuple(ROOT / f"test/passes/raise/raise{part}.mlir" for part in ("", "-chunks", "-softmax"))
VOCAB = 64
SWAPS = (("arith.addi", "arith.subi"), ("arith.ori", "arith.andi", "arith.xori"),
         ("arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.divf", "arith.minimumf"),
         ("math.exp ", "math.tanh ", "math.exp2 "),
         ("cmpi slt", "cmpi sle", "cmpi sgt", "cmpi sge", "cmpi eq", "cmpi ne", "cmpi ult"),
         ('"parallel"', '"reduction"'))
NUMBERS = {"i64": (-7, -1, 0, 1, 2, 6, 7, 8), "index": (0, 1, 2, 63, 64),
           "f32": ("0.0", "1.0", "-3.0e38", "0xFF800000", "-1.0e4", "0x7FC00000")}
STEPS = (((0, 4), (0, 3)), ((4, 5), (3, 6)), ((5, 13), (6, 6)), ((13, 13), (6, 9)))


@functools.cache
def bases():
    """The graphs of the lit tests, every table as large as any index."""
    texts = []
    for path in BASES:
        for text in path.read_text().split("// -----"):
            text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
            text = text.replace("32x64", "64x64").replace("64x32", "64x64").replace("?x32", "?x64")
            texts.append(text.replace("[1, %t, 32]", "[1, %t, 64]"))
    return texts


def changed(text, choose):
    """The text with one random change."""
    lines = text.splitlines()
    while True:
        at = choose.randrange(len(lines))
        new = change(lines[at], choose)
        if new is not None and new != lines[at]:
            return "\n".join([*lines[:at], new, *lines[at + 1:]])


def change(line, choose):
    if number := re.search(r"(arith.constant )(\S+)( : (i64|index|f32))", line):
        return line.replace(number[0], f"{number[1]}{choose.choice(NUMBERS[number[4]])}{number[3]}")
    kind = choose.randrange(6)
    if kind == 0:
        words = [word for group in SWAPS for word in group if word in line]
        if not words:
            return None
        word = choose.choice(words)
        others = next(group for group in SWAPS if word in group)
        places = [found.start() for found in re.finditer(re.escape(word), line)]
        place = choose.choice(places)
        return line[:place] + choose.choice(others) + line[place + len(word):]
    if kind == 1 and (map_ := re.search(r"affine_map<\((.*?)\) -> \((.*?)\)>", line)):
        dims, results = map_[1].split(", "), map_[2].split(", ")
        if choose.random() < 0.5:
            choose.shuffle(results)
        else:
            results[choose.randrange(len(results))] = choose.choice([*dims, "0"])
        return line.replace(map_[0], f"affine_map<({map_[1]}) -> ({', '.join(results)})>")
    if kind == 2 and (found := re.search(r"permutation = \[(.*?)\]|linalg.index (\d)", line)):
        if found[2]:
            return line.replace(found[0], f"linalg.index {choose.randrange(3)}")
        order = found[1].split(", ")
        choose.shuffle(order)
        return line.replace(found[0], f"permutation = [{', '.join(order)}]")
    if kind == 3 and "=" in line:
        # Operands change places, or one becomes another.
        names = re.findall(r"%\w+", line.split("=", 1)[1])
        if len(names) < 2:
            return None
        a, b = choose.sample(names, 2)
        head, tail = line.split("=", 1)
        marks = {a: b, b: a} if choose.random() < 0.5 else {a: b}
        return head + "=" + re.sub(r"%\w+", lambda m: marks.get(m[0], m[0]), tail)
    if kind == 4 and (found := re.search(r"dim\((\d)\)", line)):
        return line.replace(found[0], f"dim({choose.randrange(3)})")
    if kind == 4 and (found := re.search(r"scale = (\S+) :", line)):
        return line.replace(found[1], choose.choice(("0.25", "1.0", "-0.5", "0.0")))
    if kind == 5 and (found := re.search(r"extract_slice (%\w+)\[(.*?)\] \[(.*?)\] \[(.*?)\]", line)):
        group = choose.choice((2, 4))
        values = found[group].split(", ")
        values[choose.randrange(3)] = choose.choice(("0", "1", "2"))
        return line.replace(f"[{found[group]}]", f"[{', '.join(values)}]", 1)
    return None


def mutant(seed):
    choose = random.Random(seed)
    text = choose.choice(bases())
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        text = changed(text, choose)
    return text


def through(texts, pipeline):
    """Name -> module of those that a pipeline takes, printed without aliases; crashes fail."""
    parts = [text.replace("module attributes", f"module @m{name} attributes", 1)
             for name, text in texts.items()]
    done = subprocess.run([find("kv-opt"), "--allow-unregistered-dialect", "--split-input-file",
                           "--mlir-print-local-scope", pipeline, "-"], capture_output=True, text=True,
                          input="\n// -----\n".join(parts), timeout=600)
    assert done.returncode in (0, 1), f"crashed: {done.returncode} {done.stderr[-3000:]} {list(texts)}"
    modules = re.split(r"^// -----$", done.stdout, flags=re.M)
    return {int(found[1]): module for module in modules
            if (found := re.search(r"module @m(\d+) ", module))}


def entry(module, name):
    """The function of a module as one of several of another."""
    body = module[module.index("func.func"):module.rindex("}")]
    return body.replace("@forward", f"@{name}", 1).replace('kv.name = "kv"', f'kv.name = "{name}"')


def compiled(functions, path, *options):
    """An artifact with these functions, or None."""
    source = path.with_suffix(".mlir")
    source.write_text('module attributes {kv.model = {name = "m", max_seq_len = 64 : i64}} {\n' +
                      "\n".join(functions) + "\n}\n")
    done = subprocess.run([find("kv-compile"), source, "-o", path, "-O0", *options],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1), done.stderr[-3000:]
    return path if done.returncode == 0 else None


class Execution:
    """Entries of one artifact on the same weights and prompts."""

    def __init__(self):
        chosen = np.random.default_rng(7)
        self.weights = {name: chosen.standard_normal((64, 64)).astype(np.float32) * spread
                        for name, spread in (("embed", 0.6), ("arg2", 0.2))}
        self.weights["sinks"] = chosen.standard_normal(4).astype(np.float32)
        self.prompts = [chosen.integers(0, VOCAB, length).astype(np.int32) for length in (13, 9)]

    def run(self, artifact, described, arrays, rows):
        out = np.full((rows, described["outputs"][0]["shape"][1]), np.nan, np.float32)
        status, message = host.call_runtime(artifact, [*arrays, out], entry=described["name"])
        assert status == 0, message
        return out

    def argument(self, described, named):
        """The arrays of an entry."""
        return [as_wanted(self.weights[each["name"]], each) if each["kind"] == "weight"
                else named[each["kind"], each["name"]] for each in described["inputs"]]

    def whole(self, artifact, described):
        return [self.run(artifact, described, self.argument(described, {("input", "tokens"): prompt}),
                         len(prompt)) for prompt in self.prompts]

    def cached(self, artifact, described, collection):
        c, page = collection, collection["page"]
        table = np.arange(1, 1 + 2 * 8, dtype=np.int32).reshape(2, 8)
        blocks = np.full((18, 2, c["layers"], page, c["heads"], c["dim"]), np.nan, np.float32)
        rows = [[], []]
        for step in STEPS:
            offsets = np.cumsum([0, *(end - begin for begin, end in step)]).astype(np.int32)
            tokens = np.concatenate([prompt[begin:end]
                                     for prompt, (begin, end) in zip(self.prompts, step)])
            ends = [end for _, end in step]
            name = c["name"]
            named = {("input", "tokens"): tokens, ("input", "row_offsets"): offsets,
                     ("input", "logit_rows"): np.arange(len(tokens), dtype=np.int32),
                     ("kv.blocks", f"{name}.blocks"): blocks,
                     ("kv.cache_lengths", f"{name}.cache_lengths"):
                         np.array([begin for begin, _ in step], np.int32),
                     ("kv.lookup_table", f"{name}.lookup_table"): table,
                     ("kv.max_lengths", f"{name}.max_lengths"):
                         np.array([[max(np.diff(offsets)), max(ends)]], np.int32)}
            out = self.run(artifact, described, self.argument(described, named), len(tokens))
            for i in range(2):
                rows[i].append(out[offsets[i]:offsets[i + 1]])
        return [np.concatenate(each) for each in rows]


def agree(a, b):
    """Equal within rounding; where the graph itself overflows there is nothing to compare."""
    finite = np.isfinite(a) & (np.abs(a) < 1e30)
    bound = 1e-4 * max(0.1, float(np.abs(a[finite]).max(initial=0)))
    return bool((np.abs(a - b)[finite] <= bound).all())


def execute(raised, plain, folder, execution, wrong, skipped):
    """Runs a group of mutants in two artifacts."""
    numbers = sorted(raised)
    a = compiled([entry(raised[n], f"r{n}") for n in numbers], folder / "raised.so", "--pipeline",
                 "kv-reference")
    b = compiled([entry(plain[n], f"p{n}") for n in numbers], folder / "plain.so", "--pipeline",
                 "kv-reference")
    if not a or not b:
        if len(numbers) == 1:
            skipped.append(numbers[0])
            return
        for half in (numbers[::2], numbers[1::2]):
            execute({n: raised[n] for n in half}, {n: plain[n] for n in half}, folder, execution,
                    wrong, skipped)
        return
    entries = {each["name"]: each for path in (a, b) for each in manifest(path)["entries"]}
    collections = {each["name"]: each for each in manifest(a)["collections"]}
    for n in numbers:
        expected = execution.whole(b, entries[f"p{n}"])
        got = execution.cached(a, entries[f"r{n}"], collections[f"r{n}"])
        if not all(agree(x, y) for x, y in zip(expected, got)):
            wrong.append(n)


def check(count, seed=0, group=40):
    """(raised, executed, numbers of the wrong ones) of `count` mutants."""
    execution, wrong, skipped, total = Execution(), [], [], 0
    for first in range(0, count, 200):
        numbers = range(seed + first, seed + min(first + 200, count))
        texts = {n: mutant(n) for n in numbers}
        raised = through(texts, "--kv-raise=dtype=f32 page=4")
        plain = through({n: texts[n] for n in raised}, "--kv-plain")
        assert set(plain) == set(raised), sorted(set(raised) - set(plain))
        total += len(raised)
        for begin in range(0, len(raised), group):
            chosen = sorted(raised)[begin:begin + group]
            with tempfile.TemporaryDirectory() as folder:
                execute({n: raised[n] for n in chosen}, {n: plain[n] for n in chosen}, Path(folder),
                        execution, wrong, skipped)
    return total, total - len(skipped), wrong


def check_range(numbers):
    return check(len(numbers), numbers.start)


def main(count, seed=0, processes=1):
    ranges = [range(first, min(first + 200, seed + count)) for first in range(seed, seed + count, 200)]
    done, total, executed, wrong = 0, 0, 0, []
    # A worker that crashes is an error, and not a wait for ever.
    with ProcessPoolExecutor(processes) as pool:
        for future in as_completed([pool.submit(check_range, each) for each in ranges]):
            some, run, bad = future.result()
            total, executed, wrong = total + some, executed + run, wrong + bad
            done += 200
            if bad or done % 5000 == 0:
                print(f"{done} graphs, {total} raised, {executed} executed, wrong {wrong}", flush=True)
    print(f"mutants: {count} graphs, {total} raised, {executed} executed, {len(wrong)} wrong {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
