"""The layers of docs/reference/layers.md, and what the files of the repository include."""

import re
import subprocess
from collections import defaultdict
from pathlib import PurePosixPath

from tools import ROOT

SOURCES = (".h", ".cpp", ".c", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import ([\w, ]+)", re.M)
PACKAGE = "tools/kv-import/kv_import"
# Folders of public headers -> the folder that implements them. Those of include/kv/Runtime are runtime/NAME.
PUBLIC = {"include/kv/ABI": "abi", "include/kv/Definition": "definition", "include/kv/Dialect": "dialect",
          "include/kv/Passes": "passes", "include/kv/Kernels": "kernels/reference",
          "include/kv/Compiler": "lib/Compiler", "include/kv/Registration": "lib/Registration",
          "include/kv-c": "lib/CAPI"}
# Made by the build, or of an installed library.
ELSEWHERE = ("mlir/", "llvm/", "lld/", "mlir-c/", "nanobind", "kv/Dialect/KV", "kv/Passes/Passes.h.inc")
ANYTHING = ("test", "benchmarks")


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in names.splitlines() if (ROOT / name).is_file()]


def folder_of(path):
    """(The folder that a file counts as, whether its header is public)."""
    folder = str(PurePosixPath(path).parent)
    if folder in PUBLIC:
        return PUBLIC[folder], True
    if folder.startswith("include/kv/Runtime/"):
        return "runtime/" + folder.split("/")[3].lower(), True
    return folder, False


def read_table():
    """{row: {entry}} of both tables of docs/reference/layers.md."""
    rows = re.findall(r"^\| `(\S+)` \| (`.*`) \|$", (ROOT / "docs/reference/layers.md").read_text(), re.M)
    assert len(rows) == len(dict(rows)), "a folder has two rows"
    return {name: set(re.findall(r"`(\S+?)`", entries)) for name, entries in rows}


class House:
    """table: read_table(); texts: {path: text} of all sources."""

    def __init__(self, table, texts):
        self.table, self.texts, self.used = table, texts, defaultdict(set)
        self.shown = {folder for path in texts for folder, public in [folder_of(path)] if public}

    def problems(self):
        found = []
        for path in self.texts:
            if path.endswith((*SOURCES, ".def")):
                found += self._includes(path)
            elif path.startswith(PACKAGE + "/"):
                found += self._imports(path)
        return found

    def unused(self):
        return [f"{row}: {entry}" for row, entries in self.table.items() for entry in sorted(entries)
                if entry not in self.used[row]]

    def _includes(self, path):
        here = PurePosixPath(path).parent
        for name in INCLUDE.findall(self.texts[path]):
            target = next((each for each in (str(here / name), "include/" + name, name) if each in self.texts), None)
            if target is None:
                if not name.startswith(ELSEWHERE) and not name.endswith(".inc"):
                    yield f"{path}: {name} is no file of this repository"
                continue
            if target != f"include/{name}" and ("/" in name) == (PurePosixPath(target).parent == here):
                yield f"{path}: {name} is named neither from the root nor by its bare name"
            source, (goal, public) = folder_of(path)[0], folder_of(target)
            if not self._allowed(source, goal, public):
                yield f"{path}: {source} may not include {target}"

    def _imports(self, path):
        parts = PurePosixPath(path).parent.relative_to(PurePosixPath(PACKAGE).parent).parts
        for dots, module, names in IMPORT.findall(self.texts[path]):
            base = parts[:len(parts) - len(dots) + 1] + tuple(filter(None, module.split(".")))
            for name in [name.strip() for name in names.split(",")] if not module else [None]:
                whole = "/".join(base + ((name,) if name else ()))
                room = "/".join(whole.split("/")[:2])
                goal = room if f"tools/kv-import/{room}/__init__.py" in self.texts else "kv_import"
                source = "/".join(parts)
                if not self._allowed(source, goal, False):
                    yield f"{path}: {source} may not import {whole}"

    def _allowed(self, source, goal, public):
        if source == goal or source.split("/")[0] in ANYTHING or public and source.startswith(goal + "/"):
            return True
        wanted = goal + ("*" if goal in self.shown and not public else "")
        for row, entries in self.table.items():
            if row == source or row.endswith("/**") and (source + "/").startswith(row[:-2]):
                for entry in (wanted, wanted + "*"):
                    if entry in entries:
                        self.used[row].add(entry)
                        return True
        return False
