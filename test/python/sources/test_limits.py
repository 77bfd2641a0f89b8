"""The sources keep the limits of limits.py."""

import pytest

from house import SOURCES, tracked
from limits import banned_words, common_types, long_files, long_functions
from tools import ROOT


def sources():
    return [path for path in tracked() if path.endswith((*SOURCES, ".def", ".td", ".py", ".sh"))]


@pytest.mark.parametrize("limit", (long_functions, long_files, common_types, banned_words),
                         ids=lambda limit: limit.__name__)
def test_the_sources_keep_the_limit(limit):
    found = limit(ROOT, sources())
    assert not found, "\n".join(found)


def lines(count):
    return "".join(f"  number += {line};\n" for line in range(count))


@pytest.mark.parametrize("limit, path, text, problem", [
    (long_functions, "runtime/base/Arena.cpp",
     f"template <class T> static auto planted(T number,\n  int more) -> T {{\n{lines(80)}}}\n",
     "runtime/base/Arena.cpp:{line}: planted has 83 lines, allowed: 80"),
    (long_functions, "kernels/cuda/movers/SampleBody.h",
     f"template <class T> KV_BODY void Planted<T>::run(T number) {{\n{lines(79)}}}\n",
     "kernels/cuda/movers/SampleBody.h:{line}: run has 81 lines, allowed: 80"),
    (long_functions, "passes/Pipelines.cpp", f"void whole() {{\n{lines(78)}}}\n", None),
    (long_functions, "test/python/tools.py", f"async def planted(number):\n{lines(80)}",
     "test/python/tools.py:{line}: planted has 81 lines, allowed: 80"),
    (long_files, "scripts/size.sh", "#\n" * 600, "scripts/size.sh:601: the file has {count} lines, allowed: 600"),
    (long_files, "test/python/tools.py", "#\n" * 600, None),
    (common_types, "runtime/base/Arena.cpp",
     "struct Planted { int x; };\nclass A { enum class Planted { No }; };\n"
     "class B {\n  template <class T> struct Planted {};\n};\n",
     "runtime/base/Arena.cpp:{line}, runtime/base/Arena.cpp:{line1}, runtime/base/Arena.cpp:{line3}: "
     "Planted is defined in 3 places, allowed: 2"),
    (common_types, "runtime/base/Arena.cpp", "template <class T> struct Planted;\ntemplate <> struct Planted<int> {};\n"
     "template <> struct Planted<char> {};\ntemplate <> struct Planted<short> {};\n", None),
    (common_types, "runtime/base/Arena.cpp",
     "".join(f"struct Planted{n} {{ struct Options {{}}; }};\n" for n in "abc"), None),
    (common_types, "runtime/base/Arena.cpp", "".join(f"namespace {n} {{ enum class Kind {{ No }}; }}\n" for n in "abc"),
     "runtime/base/Arena.cpp:{line}, runtime/base/Arena.cpp:{line1}, runtime/base/Arena.cpp:{line2}: "
     "Kind is defined in 3 places, allowed: 2"),
    (banned_words, "kernels/cuda/movers/SampleBody.h", "template <class Fault> void planted();\n",
     "kernels/cuda/movers/SampleBody.h:{line}: template <class Fault> void planted();: "
     "kernels are broken from outside, by Faulty"),
    (banned_words, "kernels/emulator/Machine.h", "struct Fault {};\n", None),
    (banned_words, "passes/cuda/Launches.cpp", 'bool planted = op.getCallee() == "kv_rt_store";\n',
     'passes/cuda/Launches.cpp:{line}: bool planted = op.getCallee() == "kv_rt_store";: '
     "what a launch does is read in Symbols.def, not in its name"),
    (banned_words, "passes/cuda/Launches.cpp", "bool planted = op.getCallee() == callee;\n", None)])
def test_a_planted_violation_is_named(limit, path, text, problem, tmp_path):
    before = (ROOT / path).read_text()
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(before + text)
    line = before.count("\n") + 1
    places = {"line": line, "line1": line + 1, "line2": line + 2, "line3": line + 3, "count": line - 1 + 600}
    known = limit(ROOT, [path])
    found = [each for each in limit(tmp_path, [path]) if each not in known]
    assert found == ([problem.format(**places)] if problem else [])
