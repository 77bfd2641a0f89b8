"""Every architecture of architectures.py by one command, as users type it: kv-import FOLDER. Compared with
transformers as check_models.py does; what is found is put into benchmarks/results/models.json,
which the site shows (docs/reference/models.md).

    record_models.py [--left] [NAME...]     --left: those that the record does not call equal

Run by scripts/check-models.sh --record, in an environment with PyTorch."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import transformers
from architectures import ARCHITECTURES, RENAMED, publish
from check_models import LIMIT, Failed, compared, compiled, imported, make, ours, prompts_of
from tokenizers import Tokenizer, models

ROOT = Path(__file__).resolve().parents[3]
RECORD = ROOT / "benchmarks/results/models.json"


def write_tokenizer(folder, vocab):
    words = {f"t{i}": i for i in range(vocab)}
    Tokenizer(models.WordLevel(words, "t0")).save(str(folder / "tokenizer.json"))


def attempt(folder, model, row):
    """Fills `row`; Failed where a command fails."""
    def timed(step, function, *arguments):
        begin = time.monotonic()
        try:
            return function(*arguments)
        finally:
            row["seconds"][step] = round(time.monotonic() - begin, 2)

    prompts, vocab = prompts_of(model)
    write_tokenizer(folder, vocab)
    out = folder / "imported"
    said = timed("import", imported, folder, out)
    row["road"] = "torch" if "raised from a graph" in said else "direct"
    timed("compile", compiled, out)
    found, row["equal"] = compared(model, prompts, *timed("run", ours, out, prompts, vocab))
    row.update(found)
    if not row["equal"]:
        raise Failed("logits differ" if row["gap"] > LIMIT else "the model's logits do not depend on its tokens enough")


def tried(name, commit):
    shown, kind, settings = ARCHITECTURES[name]
    row = {"name": name, "architecture": shown, "commit": commit, "road": None, "equal": False, "said": None,
           "seconds": {}}
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / name
        model = make(name, folder, kind, settings)
        if name in RENAMED:
            publish(name, folder, model.config)
        row["model_type"] = json.loads((folder / "config.json").read_text())["model_type"]
        try:
            attempt(folder, model, row)
        except (Failed, subprocess.TimeoutExpired) as failure:
            lines = str(failure).replace(f"{top}/", "").splitlines()
            # What was tried first is said in a line of its own.
            last = next((line for line in reversed(lines) if line.strip()), "no message")
            row["said"] = last.removeprefix("python failed: ").removeprefix("kv-import: ")
    return row


def write(rows):
    found = {"transformers": transformers.__version__, "system": platform.platform(), "cores": os.cpu_count(),
             "rows": [rows[name] for name in ARCHITECTURES if name in rows]}
    RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    known = json.loads(RECORD.read_text(encoding="utf-8"))["rows"] if RECORD.exists() else []
    rows = {row["name"]: row for row in known}
    names = [name for name in sys.argv[1:] if name != "--left"] or list(ARCHITECTURES)
    unknown = [name for name in names if name not in ARCHITECTURES]
    if unknown:
        sys.exit(f"record-models: {unknown[0]!r} is none of {', '.join(ARCHITECTURES)}")
    if "--left" in sys.argv:
        names = [name for name in names if not rows.get(name, {}).get("equal")]
    # Once: a run of all takes so long that another commit may come in between.
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], check=True, text=True,
                            capture_output=True).stdout.strip()
    for name in names:
        row = rows[name] = tried(name, commit)
        print(f"{name}: {row['road']}: {'equal' if row['equal'] else row['said']}", flush=True)
        write(rows)
    equal = [row for row in rows.values() if row["equal"]]
    print(f"record-models: {len(equal)} of {len(rows)} equal, "
          f"{sum(row['road'] == 'direct' for row in equal)} without PyTorch")


if __name__ == "__main__":
    main()
