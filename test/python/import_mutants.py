"""Changed model files through kv-import: each is imported, or refused with one sentence. Many to a process:

    python import_mutants.py COUNT [SEED [PROCESSES]]

COUNT changes of GGUF files, config.json, the index of shards, tokenizer files and safetensors files; a change
is of one key or of bytes. What differs from an import or a sentence (another exception, a signal, a hang, text on
standard error) ends the program with the seed that repeats it."""

import concurrent.futures
import contextlib
import copy
import functools
import io
import json
import math
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import gguf

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/kv-import"), str(ROOT / "tools")]
from kv_import import cli, synthetic  # noqa: E402
from kv_import.model import schema  # noqa: E402
from kv_import.model.errors import ImportFailure  # noqa: E402
from packed_weights import folder_of  # noqa: E402

SECONDS = 20  # for one import, after which it counts as hanging
# Of whose files one is changed.
PACKED = ("gptq", "awq", "packed", "nf4", "nested", "int8")
KINDS = ("llama", "qwen3_moe", "gpt_oss", "deepseek_v3_experts", "gemma3", "phi3_long", "qwen3_next", "granite_hybrid",
         *PACKED)
POOL = (None, True, False, 0, 1, 2, 3, 7, -1, 16, 64, 2**31 - 1, 2**31, 2**63, 10**30, 0.0, 0.01, 0.5, 1.0, 1.5, -0.5,
        1e-300, 1e300, math.nan, math.inf, -math.inf, "", "x", "silu", "yarn", "false", "\ud800", "\0", [], [1], ["x"],
        [None], [[]], [1, 2, 3, 4], {}, {"a": 1}, {"factor": 0}, {"rope_type": "yarn", "factor": 2},
        {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [1.0]}, {"quant_method": "fp8"},
        {"quant_method": []}, {"full_attention": {}, "sliding_attention": {"rope_theta": 1}})
KEYS = sorted({field.alias or name for model in (schema.HuggingFace, schema.Rope, schema.Generation)
               for name, field in model.model_fields.items()}
              | {"quantization_config", "text_config", "chat_template", "bos_token", "eos_token"})
GGUF_KINDS = [kind for kind in gguf.GGUFValueType if kind != gguf.GGUFValueType.ARRAY]


def make_models(folder):
    """The files that are changed: {kind: folder of Hugging Face}, a GGUF file of few tokens."""
    models = {}
    for kind in KINDS:
        if kind in PACKED:
            folder_of(folder / kind, kind, layers=1, vocab=272)
        else:
            config = synthetic.make_config(kind, vocab=272)
            synthetic.write_hf(folder / kind, config, synthetic.make_weights(config))
        (folder / kind / "generation_config.json").write_text('{"do_sample": true, "top_p": 0.9}')
        (folder / kind / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>", "chat_template": "{{ a }}"}')
        (folder / kind / "model.safetensors.index.json").write_text(
            '{"weight_map": {"lm_head.weight": "model.safetensors"}}')
        models[kind] = folder / kind
    config = synthetic.make_config("llama", layers=1, vocab=16)
    path = folder / "all.gguf"
    synthetic.write_gguf(path, config, synthetic.make_weights(config))
    # The package reads a text in 0.1 ms: few tokens.
    keys = keys_of(gguf.GGUFReader(path))
    array, text = gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.STRING
    keys["tokenizer.ggml.tokens"] = [array, text], [*"abcdefghijkl", "ab", "<|im_start|>", "<|im_end|>", "<|x|>"]
    keys["tokenizer.ggml.merges"] = [array, text], ["a b"]
    keys["tokenizer.ggml.token_type"] = [array, gguf.GGUFValueType.INT32], [1] * 13 + [3] * 3
    for kind, number in (("bos", 13), ("eos", 14)):
        keys[f"tokenizer.ggml.{kind}_token_id"] = [gguf.GGUFValueType.UINT32], number
    write_gguf(folder / "m.gguf", keys, gguf.GGUFReader(path).tensors)
    return models, folder / "m.gguf"


def keys_of(reader):
    return {name: (field.types, field.contents()) for name, field in reader.fields.items()
            if not name.startswith("GGUF.")}


def write_gguf(target, keys, tensors, order=gguf.GGUFEndian.LITTLE):
    writer = gguf.GGUFWriter(target, "llama", endianess=order)
    del writer.kv_data[0]["general.architecture"]
    for key, (types, value) in keys.items():
        part = types[-1] if types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, value, types[0], *([part] if part is not None else []))
    for tensor in tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def changed_value(value, chosen):
    """Another value; of a list or an object perhaps of one entry."""
    if isinstance(value, (dict, list)) and value and chosen.random() < 0.6:
        value = copy.copy(value)
        key = chosen.choice(list(value)) if isinstance(value, dict) else chosen.randrange(len(value))
        value[key] = changed_value(value[key], chosen)
        return value
    return copy.deepcopy(chosen.choice(POOL))


def changed_json(text, chosen):
    value = json.loads(text)
    for _ in range(chosen.choice((1, 1, 1, 2, 3))):
        if chosen.random() < 0.3:
            value[chosen.choice(KEYS)] = copy.deepcopy(chosen.choice(POOL))
        elif chosen.random() < 0.1 and value:
            value.pop(chosen.choice(list(value)))
        else:
            value = changed_value(value, chosen)
            value = value if isinstance(value, dict) else {"model_type": value}
    return json.dumps(value).encode()


def changed_bytes(data, chosen, most=None):
    data = bytearray(data)
    if chosen.random() < 0.1:
        return bytes(data[:chosen.randrange(len(data))])
    for _ in range(chosen.choice((1, 1, 2, 8))):
        place = chosen.randrange(min(len(data), most or len(data)))
        data[place] = chosen.choice((0, 1, 127, 128, 255, chosen.randrange(256)))
    return bytes(data)


@functools.cache
def parsed(path):
    reader = gguf.GGUFReader(path)
    return keys_of(reader), reader.tensors


def changed_gguf(path, target, chosen):
    """One key has another value, or none."""
    keys, tensors = parsed(path)
    keys, name, kind = dict(keys), chosen.choice(list(keys)), chosen.choice(GGUF_KINDS)
    value = chosen.choice((0, 1, 2, 3, 15, 16, 99, 127))
    if kind in (gguf.GGUFValueType.FLOAT32, gguf.GGUFValueType.FLOAT64):
        value = chosen.choice((0.0, -1.0, 0.5, 1.0, math.nan, math.inf, 1e-40, 1e30))
    elif kind == gguf.GGUFValueType.STRING:
        value = chosen.choice(("", "x", "llama", "gpt2", "tekken", "none", "yarn"))
    elif kind == gguf.GGUFValueType.BOOL:
        value = bool(value)
    elif kind in (gguf.GGUFValueType.UINT32, gguf.GGUFValueType.UINT64) and chosen.random() < 0.3:
        value = 2**32 - 1
    elif kind in (gguf.GGUFValueType.INT32, gguf.GGUFValueType.INT64) and chosen.random() < 0.3:
        value = -1
    keys[name] = [kind], value
    if (choice := chosen.random()) < 0.4:
        keys[name] = [gguf.GGUFValueType.ARRAY, kind], [value] * chosen.choice((1, 3, 16))
    elif choice > 0.95:
        del keys[name]
    write_gguf(target, keys, tensors)


def changed_state(data, chosen):
    """The JSON of a matrix of bitsandbytes in the bytes of a safetensors file has another value."""
    size = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:size])
    name = chosen.choice([name for name in header if "quant_state" in name])
    begin, end = (size + offset for offset in header[name]["data_offsets"])
    # In as many bytes as before: blanks fill what is shorter.
    return data[:begin] + changed_json(data[begin:end], chosen)[:end - begin].ljust(end - begin) + data[end:]


FILES = ("config.json",) * 6 + ("model.safetensors.index.json", "generation_config.json", "tokenizer_config.json",
                                "tokenizer.json", "tokenizer.json", "model.safetensors")


def change(models, path, folder, chosen):
    """(Sentence, the changed model): in the folder."""
    if chosen.random() < 0.35:
        target = folder / "m.gguf"
        if chosen.random() < 0.5:
            changed_gguf(path, target, chosen)
        else:
            target.write_bytes(changed_bytes(path.read_bytes(), chosen, 8000))
        return "a GGUF file", target
    kind, name = chosen.choice(KINDS), chosen.choice(FILES)
    target = folder / kind
    if not target.exists():
        target.mkdir()
        for file in models[kind].iterdir():
            (target / file.name).symlink_to(file)
    data = (models[kind] / name).read_bytes()
    if kind in ("nf4", "nested") and name.endswith(".safetensors") and chosen.random() < 0.5:
        data = changed_state(data, chosen)
    else:
        data = (changed_bytes(data, chosen, 4000) if name.endswith(".safetensors") or chosen.random() < 0.2
                else changed_json(data, chosen))
    (target / name).unlink()
    (target / name).write_bytes(data)
    return f"{name} of {kind}", target


def restore(models, target):
    if target.suffix == ".gguf":
        return
    for file in target.iterdir():
        if not file.is_symlink():
            file.unlink()
            file.symlink_to(models[target.name] / file.name)


class Hang(BaseException):
    pass


def on_alarm(*_):
    raise Hang


def attempt(target, out, whole):
    """None, or what is wrong. `whole`: weights are written, too."""
    options = cli.parse([str(target), "-o", str(out), "--page", "16", "--max-seq", "64"])
    said = io.StringIO()
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            (cli.run if whole else cli.prepare)(options)
    except ImportFailure as failure:
        sentence = str(failure)
        if "\n" in sentence or len(sentence) > 6000 or "Traceback" in sentence:
            return f"no sentence: {sentence[:500]!r}"
    except OSError as error:
        if not error.strerror:
            return repr(error)
    except Hang:
        return f"more than {SECONDS} s"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return None


def run(count, seed, folder):
    """The first that is wrong, as a sentence; None: all are right."""
    signal.signal(signal.SIGALRM, on_alarm)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("base", "changed"):
        (folder / name).mkdir()
    models, path = make_models(folder / "base")
    for i in range(seed, seed + count):
        chosen = random.Random(i)
        (folder / "seed").write_text(str(i))
        what, target = change(models, path, folder / "changed", chosen)
        wrong = attempt(target, folder / "out", whole=i % 16 == 0)
        if wrong:
            return f"seed {i}, {what}: {wrong}"
        restore(models, target)
    return None


def _part(arguments):
    count, seed, folder = arguments
    return run(count, seed, Path(folder))


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    processes = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    share = -(-count // processes)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(processes) as pool:
        parts = [pool.submit(_part, (share, seed + k * share, f"{folder}/{k}")) for k in range(processes)]
        try:
            found = [wrong for part in concurrent.futures.as_completed(parts) if (wrong := part.result())]
        except concurrent.futures.process.BrokenProcessPool:
            seeds = ", ".join(path.read_text() for path in sorted(Path(folder).glob("*/seed")))
            sys.exit(f"import_mutants: one of the seeds {seeds} has ended its process")
        if found:
            sys.exit(f"import_mutants: {'; '.join(found)}")
    print(f"import_mutants: {count} changed files from seed {seed} on, each imported or refused in one sentence")


if __name__ == "__main__":
    main()
