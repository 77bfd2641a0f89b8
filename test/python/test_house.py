"""The tree keeps to docs/layers.md: includes, sizes of folders, and a README in each."""

from collections import Counter
from pathlib import PurePosixPath

import pytest

from house import House, SOURCES, PACKAGE, read_table, tracked
from tools import ROOT

TREES = ("benchmarks", "dialect", "include", "kernels", "lib", "passes", "python", "runtime", "scripts", "test",
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
    ("runtime/cuda/Module.h", '#include "kernels/cuda/attention/common/AttentionBody.h"',
     "runtime/cuda may not include kernels/cuda/attention/common/AttentionBody.h"),
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
    """The folders of sources without a README of at most README_LINES lines."""
    folders = {str(PurePosixPath(path).parent) for path in files
               if path.startswith(TREES) and path.endswith((*SOURCES, ".py", ".td", ".mlir", ".sh"))}
    folders = {folder for folder in folders if "Inputs" not in folder and not folder.startswith("include/kv/")
               and not folder.startswith(("test/data", "test/install"))}
    return [folder for folder in sorted(folders) if f"{folder}/README.md" not in files
            or len((ROOT / folder / "README.md").read_text().splitlines()) > README_LINES and folder != "test/conformance"]


def test_a_folder_has_a_short_readme():
    files = tracked()
    assert without_readme(files) == []
    assert without_readme([path for path in files if path != "runtime/tiers/README.md"]) == ["runtime/tiers"]
