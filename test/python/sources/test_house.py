"""The tree keeps to docs/reference/layers.md: includes, sizes of folders, and a README in each."""

import re
from collections import Counter
from pathlib import PurePosixPath

import pytest

from house import House, SOURCES, PACKAGE, read_table, tracked
from tools import ROOT

TREES = ("benchmarks", "dialect", "examples", "include", "kernels", "lib", "passes", "python", "runtime", "scripts", "test",
         "tools")
README_LINES = 10


def texts():
    return {path: (ROOT / path).read_text() for path in tracked()
            if path.endswith((*SOURCES, ".def")) or path.startswith(PACKAGE) and path.endswith(".py")}


def test_includes_follow_the_table():
    house = House(read_table(), texts())
    assert house.problems() == []
    assert house.unused() == []


@pytest.mark.parametrize("path, line, problem", [
    ("passes/cuda/FoldCasts.cpp", '#include "passes/cpu/vector/VectorEmitter.h"',
     "passes/cuda may not include passes/cpu/vector/VectorEmitter.h"),
    ("runtime/engine/structures/PagePool.h", '#include "kv/Runtime/Session/InferenceSession.h"',
     "runtime/engine/structures may not include include/kv/Runtime/Session/InferenceSession.h"),
    ("kernels/emulator/Machine.h", '#include "kernels/cuda/ptx/GpuBlock.h"',
     "kernels/emulator may not include kernels/cuda/ptx/GpuBlock.h"),
    ("runtime/cuda/Module.h", '#include "kernels/cuda/attention/mma/WarpKernel.h"',
     "runtime/cuda may not include kernels/cuda/attention/mma/WarpKernel.h"),
    ("runtime/serving/Sampler.cpp", '#include "runtime/engine/CacheEngineImpl.h"',
     "runtime/serving may not include runtime/engine/CacheEngineImpl.h"),
    ("passes/Pipelines.cpp", '#include "test/unit/Values.h"', "passes may not include test/unit/Values.h"),
    ("passes/Pipelines.cpp", '#include "kv/Runtime/Arena.h"', "kv/Runtime/Arena.h is no file of this repository"),
    ("passes/cpu/Vectorize.cpp", '#include "../common/Emitter.h"',
     "../common/Emitter.h is no file of this repository"),
    (f"{PACKAGE}/model/rope.py", "from ..readers.gguf_names import NAMES",
     "kv_import/model may not import kv_import/readers/gguf_names")])
def test_a_planted_include_is_refused(path, line, problem):
    changed = texts()
    changed[path] += f"\n{line}\n"
    assert House(read_table(), changed).problems() == [f"{path}: {problem}"]


def test_an_entry_that_nothing_needs_is_refused():
    table = read_table()
    table["dialect"].add("runtime/engine")
    house = House(table, texts())
    assert house.problems() == [] and house.unused() == ["dialect: runtime/engine"]


def limit(folder):
    return 60 if folder.startswith("test") else 30


def large(files):
    """The folders with too many files."""
    sizes = Counter(str(PurePosixPath(path).parent) for path in files if path.startswith(TREES))
    return [f"{folder}: {size} files, allowed: {limit(folder)}" for folder, size in sorted(sizes.items())
            if size > limit(folder) and not folder.startswith(("test/data", "benchmarks/results"))]


def test_a_folder_has_few_files():
    files = tracked()
    assert large(files) == []
    assert large([*files, *(f"runtime/tiers/{number}.h" for number in range(30))])[0].startswith("runtime/tiers: ")


def without_readme(files):
    """The folders of sources without a README of at most README_LINES lines before its first section."""
    folders = Counter(str(PurePosixPath(path).parent) for path in files
                      if path.startswith(TREES) and path.endswith((*SOURCES, ".py", ".td", ".mlir", ".sh")))
    # Of a folder with one or two files and no folders the README above says what it holds.
    folders = {folder for folder, count in folders.items()
               if count > 2 or any(other.startswith(f"{folder}/") for other in folders)}
    folders = {folder for folder in folders if "Inputs" not in folder and not folder.startswith("include/kv/")
               and not folder.startswith(("test/data", "test/install"))}
    return [folder for folder in sorted(folders) if f"{folder}/README.md" not in files
            or len((ROOT / folder / "README.md").read_text().partition("\n## ")[0].splitlines()) > README_LINES and folder != "test/conformance"]


def test_a_folder_has_a_short_readme():
    files = tracked()
    assert without_readme(files) == []
    assert without_readme([path for path in files if path != "runtime/tiers/README.md"]) == ["runtime/tiers"]


def misnamed(texts, files):
    """The files that READMEs name, and that are neither in their folders, nor paths of the repository, nor public."""
    public = {PurePosixPath(path).name for path in files if path.startswith("include/kv/")}
    return [f"{folder}: {name}" for folder, text in texts.items()
            for name in re.findall(r"`([\w./-]+\.(?:c|cpp|cu|cuh|def|h|mlir|py|sh|td|test|txt))`", text)
            if not files & {f"{folder}/{name}", f"include/{name}", name} and name not in public]


def test_a_readme_names_files_that_exist():
    files = set(tracked())
    texts = {str(PurePosixPath(path).parent): (ROOT / path).read_text() for path in files
             if path.endswith("/README.md") and path.startswith(TREES) and not path.startswith("test/data")}
    assert misnamed(texts, files) == []
    texts["runtime/tiers"] += "- `PagePool.h`: pages of one group."
    assert misnamed(texts, files) == ["runtime/tiers: PagePool.h"]


def test_architecture_links_every_room():
    page = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    links = set(re.findall(r"\]\(\.\./\.\./(.+?)/README\.md\)", page))
    readmes = {str(PurePosixPath(path).parent) for path in tracked() if path.endswith("/README.md")}
    rooms = {folder for folder in readmes
             if folder.startswith(("kernels/", "passes/", "runtime/")) and folder.count("/") == 1}
    assert links <= readmes and rooms <= links
