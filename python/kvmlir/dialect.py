"""Builders of the dialect's operations, on MLIR's Python bindings of another package: IREE's, torch-mlir's."""

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType


def builders(package: str = "iree.compiler") -> ModuleType:
    """The module `kv` of `package`.dialects: one function and one class per operation, made by mlir-tblgen from the
    definitions. package: what `ir` and `dialects` of MLIR's bindings are in, "iree.compiler" or "torch_mlir".

    To these bindings the dialect stays unknown. A context needs allow_unregistered_dialects = True; types and
    attributes are parsed, such as Type.parse("!kv.collection<...>"); kv-opt verifies what was built. Raises
    ModuleNotFoundError: `package` is not installed, or this build of kvmlir has no compiler."""
    name = f"{package}.dialects.kv"
    if name in sys.modules:
        return sys.modules[name]
    importlib.import_module(f"{package}.dialects._ods_common")
    file = Path(__file__).with_name("_kv_ops.py")
    if not file.exists():
        raise ModuleNotFoundError("kvmlir holds the runtime alone, without _kv_ops.py: builders are in a build with the "
                                  "compiler, and in the wheel that holds everything")
    # In that package, because the generated code imports from it.
    module = ModuleType(name)
    module.__package__, module.__file__ = f"{package}.dialects", str(file)
    exec(compile(_with_absent_results(file.read_text()), file, "exec"), module.__dict__)
    sys.modules[name] = module
    return module


def _with_absent_results(code: str) -> str:
    """mlir-tblgen 22 leaves out a result that is None, also where the bindings want one entry per result."""
    classes = code.split("\nclass ")
    return "\nclass ".join(
        re.sub(r"if (\w+) is not None: (results\.append\(\1\))", r"\2", one) if "_ODS_RESULT_SEGMENTS =" in one else one
        for one in classes)
