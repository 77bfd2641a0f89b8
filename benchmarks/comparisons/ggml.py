"""llama.cpp and ggml as libraries, to be called through their C interfaces.

For the processor at hand: what pip builds from the package llama-cpp-python, with every instruction that the
compiler finds here. For a lower level (the variable KV_BENCH_LEVEL): the wheel xllamacpp, which is built for AVX2
and has nothing beyond it."""

import ctypes
from pathlib import Path

from level import AVX2, level


def _libraries():
    if level() == AVX2:
        import xllamacpp
        return [ctypes.CDLL(xllamacpp.xllamacpp.__file__)]
    from importlib.util import find_spec  # importing the package itself would load its own interface
    folder = Path(find_spec("llama_cpp").origin).parent / "lib"
    return [ctypes.CDLL(str(folder / f"lib{name}.so"), ctypes.RTLD_GLOBAL)
            for name in ("ggml-base", "ggml-cpu", "ggml", "llama")]


_LIBRARIES = _libraries()


def function(name, result, *arguments):
    """The C function of that name."""
    found = next((each for each in _LIBRARIES if hasattr(each, name)), None)
    if found is None:
        raise SystemExit(f"no function {name} in {', '.join(each._name for each in _LIBRARIES)}")
    f = found[name]  # an object of its own for each call, unlike an attribute
    f.restype, f.argtypes = result, arguments
    return f
