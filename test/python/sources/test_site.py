"""The site of the documents is built without a warning, and what its pages are made from is read as it stands."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hooks
import prose
import records
import reference
from tools import ROOT, find

KV_OPT = find("kv-opt")
pytestmark = pytest.mark.skipif(not KV_OPT, reason="kv-opt is not built")


def build(folder, docs=None):
    """What MkDocs says, of docs/ or of another folder of pages."""
    config = ROOT / "tools/docs/mkdocs.yml"
    if docs:
        changed = config.read_text().replace("../../docs", str(docs)).replace("hooks.py", f"{config.parent}/hooks.py")
        (config := folder / "mkdocs.yml").write_text(changed)
    environment = {**os.environ, "KV_DOCS": str(Path(KV_OPT).parents[1] / "docs"), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d",
                           folder / "site"], capture_output=True, text=True, env=environment, timeout=120)
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip() and not line.startswith("INFO ")]
    return done.returncode, "\n".join(said)


def test_the_site(tmp_path):
    code, said = build(tmp_path)
    assert (code, said) == (0, "")
    site = tmp_path / "site"
    page = lambda name: (site / name).read_text(encoding="utf-8")
    for path in (ROOT / "docs").rglob("*.md"):
        name = str(path.relative_to(ROOT / "docs")).replace("README.md", "index.html").replace(".md", ".html")
        assert "<!-- made:" not in page(name), name
        # Nothing is loaded from elsewhere.
        assert not re.findall(r'<(?:script|img|link rel="(?:stylesheet|icon)")[^>]* (?:src|href)="(?:https?:)?//',
                              page(name)), name
    assert "kv.attention" in page("reference/dialect.html") and "kv-vectorize" in page("reference/passes.html")
    assert page("reference/functions.html").count("<h3") > 80
    assert "runtime/tiers" in page("code/runtime/tiers/index.html")
    index = json.loads(page("search/search_index.json"))["docs"]
    assert len(index) > 500 and any("availableCacheMemory" in entry["text"] for entry in index)


@pytest.mark.parametrize("text, says", [
    ("[gone](gone.md)", "gone.md"),
    ("[gone](README.md#gone)", "there is no such anchor"),
    ("[rows](README.md) <!-- made: nothing -->", "made: nothing"),
    ("[rows](gone.json) <!-- made: options -->", "gone.json, which is not there"),
    ("Rows: <!-- made: options -->", "is no line of the form"),
    ("[rows](README.md) <!-- made: record serve 'nothing' -->", "no row of serve.json matches nothing"),
])
def test_a_broken_page_fails(tmp_path, text, says):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text(f"# Page\n\n{text}\n")
    code, said = build(tmp_path, docs)
    assert code != 0 and says in said


def test_lists_and_rows_as_mkdocs_reads_them():
    assert hooks.lists("Text:\n- one\n  more\n  - two\n\n  ```c\n  x\n  ```\n- three\n") == (
        "Text:\n\n- one\n    more\n\n    - two\n\n    ```c\n    x\n    ```\n- three\n")
    assert hooks.fences("```c file=a.c\nx\n```\n```text output\n") == (
        '```c title="a.c"\nx\n```\n\n```text\n')
    assert hooks.fences("a\n```sh\nx\n```\nb\n") == "a\n\n```sh\nx\n```\n\nb\n"
    assert hooks.rows("| `a\\|b` \\| |\n`a\\|b`") == "| `a|b` \\| |\n`a\\|b`"
    assert hooks.lists("1. one\n\n   text\n2. two\n\nEnd\n") == "1. one\n\n    text\n2. two\n\nEnd\n"


def test_a_row_of_a_record():
    row = {"case": "a", "metric": "b", "value": 1157.05, "unit": "us", "baseline": "x's", "ratio": 1.4871,
           "aim": ">= 1.5 x", "met": False}
    assert records.cell(row, "", "").replace("\u00a0", " ") == "1 157 µs, 1.49 × x's, **missed** (≥ 1.5 ×)"
    assert records.cell({**row, "aim": None}, "µs", "x's").replace("\u00a0", " ") == "1 157, 1.49 ×"
    assert [records.number(value).replace("\u00a0", " ") for value in (0.0471, 5.5, 100, 999.6, 143560)] == [
        "0.0471", "5.5", "100", "1000", "143 560"]


def test_every_record_is_shown():
    """A record that no page shows is of no use to a reader."""
    text = "\n".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    names = {path.stem for path in (ROOT / "benchmarks/results").glob("*.json")} - {"models"}
    assert names <= set(re.findall(r"made: record ([\w-]+)", text))


def test_the_table_of_models():
    found = json.loads((ROOT / "benchmarks/results/models.json").read_text())
    assert len(found["rows"]) >= 83
    spoilt = {**found, "rows": [{**found["rows"][0], "equal": False, "said": "no"}, *found["rows"][1:]]}
    assert reference.models(spoilt) != reference.models(found) == reference.models()


def names(table):
    return [name for row in table["rows"] for name in row[-1]]


def missing(name):
    path = ROOT / (name.split()[0] if name.startswith("scripts/") else f"test/{name}")
    return not (path.exists() or any(path.parent.glob(f"{path.name}.*")))


def test_status_names_tests_that_exist():
    tables = json.loads((ROOT / "docs/reference/status.json").read_text())
    for table in tables.values():
        assert all(len(row) == len(table["columns"]) + 1 for row in table["rows"])
        assert [name for name in names(table) if missing(name)] == []
        assert [row[0] for row in table["rows"] if not row[-1]] == []
        assert [cell for row in table["rows"] for cell in row[:-1] if prose.words(prose.plain(cell)) > prose.CELL] == []
    assert missing("unit/tiers/NoTest") and not missing("unit/tiers/*ConnectorTest")


def test_status_has_every_operation():
    tables = json.loads((ROOT / "docs/reference/status.json").read_text())
    cells = "\n".join(row[0] for name in ("operations", "lowered") for row in tables[name]["rows"])
    include = ROOT / "include/kv"
    source = "".join(path.read_text() for path in (include / "Dialect").glob("*.td"))
    operations = {f"kv.{name}" for name in re.findall(r'^def \w+ : KV_\w*Op<"([\w.]+)"', source, flags=re.M)}
    assert len(operations) > 30
    assert {name for name in operations if f"`{name}`" not in cells and not name.startswith("kv.rt.arena")} == set()


def test_metrics_have_a_sentence():
    rows = reference.metric_rows()
    assert len(rows) > 60 and {kind for kind, *_ in rows.values()} == {"gauge", "counter", "histogram"}
    assert all(said.endswith(".") for _, said, *_ in rows.values())
    assert rows["kv_step_duration_seconds"][0] == "histogram"
    assert reference.request_metrics().count("\n") > 12 and "`stop`, `length`" in reference.request_metrics()
    assert rows["kv_disk_pages_total"][2:] == ("operation", ["read", "write"])
    assert rows["kv_peer_pages_total"][2:] == ("outcome", ["read", "lost"])


def test_functions_have_their_signatures():
    headers = "".join(path.read_text() for path in (ROOT / "include/kv/Runtime/C").glob("*.h"))
    made = reference.functions()
    for name in re.findall(r"^KV_C_API [\w *]*?\b(kv\w+)\(", headers, re.M):
        assert f"`{name}`" in made and re.search(rf"^[\w *]*\b{name}\(", made, re.M), name


@pytest.mark.parametrize("picture, record", [("attention-context", "attention-cpu"), ("decode-batch", "batch")])
def test_a_picture_is_of_its_record(picture, record):
    """If not, run scripts/bench.sh plot."""
    content = (ROOT / f"benchmarks/results/{record}.json").read_bytes()
    known = f"benchmarks/results/{record}.json {hashlib.sha256(content).hexdigest()}"
    assert known in (ROOT / f"docs/measurements/{picture}.svg").read_text(encoding="utf-8")


def test_constraints_have_a_number_each():
    page = (ROOT / "docs/reference/spec.md").read_text(encoding="utf-8")
    numbers = re.findall(r"^\| ([A-Z]\d+) \|", page, re.M)
    assert len(numbers) > 180 and len(set(numbers)) == len(numbers)
    tests = {name for name in re.findall(r"`([\w/-]+\.(?:mlir|test|cpp|py))`", page)}
    assert len(tests) > 30 and [name for name in tests if not any((ROOT / "test" / top / name).exists()
                                                                 for top in ("", "dialect"))] == []
