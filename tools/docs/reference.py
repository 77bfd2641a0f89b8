"""Parts of the reference, each read where the code has it."""

import ast
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rows(head, lines):
    """A Markdown table."""
    line = lambda cells: f"| {' | '.join(cells)} |\n"
    return line(head) + line(["---"] * len(head)) + "".join(map(line, lines))


def options():
    """The rows of include/kv/ABI/ManagerOptions.def and ServerOptions.def."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import options as made
    return made.tables()


# ---- The C interface --------------------------------------------------------------------------------------

COMMENT = re.compile(r"/\*(?!===)(.*?)\*/", re.S)


def words(comment):
    return re.sub(r"\s+", " ", comment).strip()


def signatures(header):
    """(comment, declarations) of each function of a header, in its order. Functions that stand below one comment
    belong together."""
    groups = [("", [])]
    for part in re.finditer(r"/\*(?P<comment>(?!===).*?)\*/|^KV_C_API (?P<function>[^;]*;)|(?P<other>^typedef|^enum)",
                            header, re.S | re.M):
        if part["function"]:
            groups[-1][1].append(re.sub(r"\s+", " ", part["function"]).replace("( ", "("))
        else:
            groups.append((words(part["comment"] or ""), []))
    return [(said, found) for said, found in groups if found]


def shown(declaration):
    """On several lines where one would be long."""
    return declaration if len(declaration) < 90 else re.sub(r", (?=[^)]*\))", ",\n    ", declaration)


def functions():
    """Every function of include/kv/Runtime/C, with its comment."""
    out = ""
    for path in sorted((ROOT / "include/kv/Runtime/C").glob("*.h")):
        header = path.read_text(encoding="utf-8")
        found = signatures(header)
        if not found:
            continue
        title = re.match(r"/\*===- (\S+) - (.*?) -*\*- C -\*-", header)
        intro = COMMENT.search(header)
        out += f"## {title[2]}\n\n`#include \"kv/Runtime/C/{path.name}\"`\n\n"
        if intro and intro.start() < header.index("#ifndef"):
            out += f"{words(intro[1])}\n\n"
        for said, declarations in found:
            names = ", ".join(f"`{one[:one.index('(')].split()[-1].lstrip('*')}`" for one in declarations)
            out += f"### {names}\n\n```c\n" + "\n".join(map(shown, declarations)) + f"\n```\n\n{said}\n\n"
    return out


# ---- Metrics ----------------------------------------------------------------------------------------------

METRIC_FILES = ("runtime/manager/ManagerMetrics.cpp", "runtime/serving/ServingMetrics.cpp",
                "runtime/transport/PeerMetrics.cpp")
STRING = r'(?:"(?:[^"\\]|\\.)*"\s*)+'


def label_of(code, call):
    """(name, values) of the label of a call: a text, or a variable of the loop around the call."""
    label = re.search(r'\{\{"(\w+)", ("?\w+"?)\}', code[call.end():code.index(";", call.end())])
    if not label:
        return "", []
    loop = code[code.rindex("for (auto [", 0, call.start()):call.start()] if label[2][0] != '"' else label[2]
    return label[1], re.findall(r'"(\w+)"', re.split(r"\n *(?:samples\.|add\()", loop)[0])


def metric_rows():
    """{name: (type, sentence, label, its values)} of every metric, in the order of the code."""
    found = {}
    for path in METRIC_FILES:
        code = text(path)
        constants = {name: value for name, value in re.findall(rf"(\w+)(?:\[\])? =\s*({STRING})", code)}
        for call in re.finditer(rf'(\w+)\(\s*(?:families, )?"((?:kv_|vllm:)\w+)",\s*({STRING}|\w+),\s*(\w*)', code):
            kind, name, said, then = call.groups()
            said = constants.get(said, said)
            if not said.startswith('"'):
                raise ValueError(f"{path}: the sentence of {name} is {said}")
            if kind not in ("gauge", "counter", "histogram"):
                kind = then if then in ("Gauge", "Counter", "Histogram") else "Histogram"
            label, values = label_of(code, call)
            row = found.setdefault(name, (kind.lower(), " ".join(ast.literal_eval(f"({said})").split()), label, []))
            row[3].extend(values)
    return found


def metrics(*prefixes):
    """Those whose names begin with one of `prefixes`; without: all whose names begin with no other table's."""
    begins = lambda name: name.startswith(prefixes or ("kv_peer_", "vllm:")) == bool(prefixes)
    return rows(["metric", "type", "label", "what it says"],
                [(f"`{name}`", kind, f"`{label}`: {', '.join(f'`{value}`' for value in values)}" if label else "", said)
                 for name, (kind, said, label, values) in metric_rows().items() if begins(name)])


def request_metrics():
    """Those that kv-serve adds, of the constants of figures.py."""
    code = ast.parse(text("tools/kv-serve/kv_serve/figures.py"))
    found = {node.targets[0].id: node.value for node in code.body if isinstance(node, ast.Assign)}
    reasons = ", ".join(f"`{reason}`" for reason in ast.literal_eval(found["REASONS"]))
    return rows(["metric", "type", "label", "what it says"], [
        (f"`{name}`", kind, f"`finished_reason`: {reasons}" if "success" in name else "", said)
        for table, kind in (("SECONDS", "histogram"), ("TOKENS", "histogram"), ("COUNTS", "counter"))
        for name, said in ast.literal_eval(found[table]).items()])


# ---- Models, status, kernels --------------------------------------------------------------------------------

ROADS = {"direct": "kv-import itself", "torch": "PyTorch"}


def models(record=None):
    """benchmarks/results/models.json."""
    found = record or json.loads(text("benchmarks/results/models.json"))
    equal = [row for row in found["rows"] if row["equal"]]
    direct = sum(row["road"] == "direct" for row in equal)
    seconds = lambda row: ", ".join(f"{row['seconds'][one]:.2g}" if row["seconds"][one] < 10 else
                                    f"{row['seconds'][one]:.0f}" for one in ("import", "compile", "run"))
    out = (f"Of {len(found['rows'])} architectures of transformers {found['transformers']}, {len(equal)} give equal "
           f"logits: {direct} by kv-import itself, {len(equal) - direct} through PyTorch.\n\n")
    out += rows(["architecture", "`model_type`", "through", "largest gap", "import, compile, run in s"],
                [(row["architecture"], f"`{row['model_type']}`", ROADS[row["road"]], f"{row['gap']:.0e}", seconds(row))
                 for row in equal])
    refused = {}  # the folder's name, which stands first in what the command says, is that of the row
    for row in found["rows"]:
        if not row["equal"]:
            said = row["said"].removeprefix(f"{row['name']}: ")
            refused.setdefault(said, []).append(f"{row['architecture']} (`{row['model_type']}`)")
    out += f"\nThe other {len(found['rows']) - len(equal)}, by what the command says:\n\n"
    return out + "".join(f"- `{said}`: {', '.join(names)}\n" for said, names in refused.items())


def status(which):
    """The table WHICH of docs/reference/status.json."""
    table = json.loads(text("docs/reference/status.json"))[which]
    return rows([*table["columns"], "tests"],
                [(*row[:-1], ", ".join(f"`{name}`" for name in row[-1]) or "–") for row in table["rows"]])


def predictions():
    """tools/gpu-verify/gpu_verify/predictions.json, which tools/sass/predictions.py writes."""
    known = json.loads(text("tools/gpu-verify/gpu_verify/predictions.json"))
    machine = known["machine"]
    said = (f"Predicted for {machine['sms']} SMs at {machine['gigahertz']} GHz that read {machine['terabytes']} TB/s. "
            "Nothing of it is measured.\n\n")
    return said + rows(["step, as `gpu-verify` names it", "kernel", "predicted", "compared with"],
                       [(row["case"], f"`{row['kernel']}`", f"{row['us']:g} µs", row["beside"])
                        for row in known["rows"]])


def instructions():
    """kernels/cuda/instructions.txt: a row per kernel, a column per chip."""
    found, chips = {}, []
    for line in text("kernels/cuda/instructions.txt").splitlines():
        if not line.startswith("#"):
            kernel, chip, count = line.split()
            found.setdefault(kernel, {})[chip] = count
            chips += [chip] * (chip not in chips)
    chips.sort(key=lambda chip: int(re.search(r"\d+", chip)[0]))
    return rows(["kernel", *chips], [(f"`{kernel}`", *(counts.get(chip, "–") for chip in chips))
                                     for kernel, counts in found.items()])


def tablegen(name):
    """What mlir-tblgen writes: build/<preset>/docs/NAME.md. KV_DOCS names another folder."""
    folder = Path(os.environ.get("KV_DOCS") or ROOT / "build/release/docs")
    path = folder / f"{name}.md"
    if not path.exists():
        raise OSError(f"{path} is not built: ninja kv-doc makes it")
    made = path.read_text(encoding="utf-8")
    made = re.sub(r"\A<!--.*?-->\s*", "", made, flags=re.S).replace("[TOC]\n", "")
    return re.sub(r"\A# .*\n", "", made.lstrip())
