"""The tables of docs/reference/models.md, made from benchmarks/results/models.json."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RECORD, PAGE = ROOT / "benchmarks/results/models.json", ROOT / "docs/reference/models.md"
BEGIN, END = "<!-- from benchmarks/results/models.json -->\n", "<!-- end -->\n"
ROADS = {"direct": "kv-import itself", "torch": "PyTorch"}


def record():
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"rows": []}


def tables(found):
    """The text between BEGIN and END."""
    rows = found["rows"]
    equal = [row for row in rows if row["equal"]]
    direct = sum(row["road"] == "direct" for row in equal)
    lines = [f"Of {len(rows)} architectures of transformers {found['transformers']}, {len(equal)} give equal logits: "
             f"{direct} by kv-import itself, {len(equal) - direct} through PyTorch.", "",
             "| architecture | `model_type` | through | largest gap | import, compile, run |",
             "| --- | --- | --- | --- | --- |"]
    for row in equal:
        seconds = ", ".join(f"{row['seconds'][each]:.2g}" if row["seconds"][each] < 10 else
                            f"{row['seconds'][each]:.0f}" for each in ("import", "compile", "run"))
        lines.append(f"| {row['architecture']} | `{row['model_type']}` | {ROADS[row['road']]} | {row['gap']:.0e} | "
                     f"{seconds} s |")
    lines += ["", f"The other {len(rows) - len(equal)}, with what the command says:", ""]
    lines += [f"- {row['architecture']} (`{row['model_type']}`): `{row['said']}`" for row in rows if not row["equal"]]
    return "\n".join(lines) + "\n"


def page(text, found):
    """`text` with its tables made anew."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + tables(found) + END + rest.partition(END)[2]
