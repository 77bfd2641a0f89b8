"""How the Python programs start: from a checkout, a build folder or an installed prefix."""

import importlib.util
import os
import sys
from pathlib import Path


def start(launcher, module, beside=(), needs=()):
    """Calls main() of `module`, whose package lies beside the launcher, in the checkout's .venv where there is one. `beside` names
    the other programs whose packages it uses, `needs` packages that must be more than a folder. Ends with a sentence where a package
    is missing."""
    here = Path(launcher).resolve().parent
    root = here.parents[1]
    venv = root / ".venv/bin/python"
    if venv.exists() and sys.prefix == sys.base_prefix:
        os.execv(venv, [str(venv), str(Path(launcher).resolve()), *sys.argv[1:]])
    sys.path[:0] = [str(here), *(str(here.parent / name) for name in beside)]
    # Bindings that are installed, or in PYTHONPATH, come first. A build that has none has an empty folder of that name.
    sys.path += [str(path.parents[1]) for path in sorted(root.glob("build/*/python/kvmlir/_kvmlir*.so"),
                                                         key=lambda path: path.parts[-4] != "release")]
    try:
        for package in needs:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                raise ModuleNotFoundError(name=package)
        main = importlib.import_module(module).main
    except ModuleNotFoundError as error:
        sys.exit(f"{here.name}: {_missing(error.name.partition('.')[0], here / 'requirements.txt')}")
    sys.exit(main())


def _missing(package, requirements):
    if package == "kvmlir":
        return ("the Python package kvmlir is missing; `pip install .` in a checkout, or a build of the target "
                "kvmlir-python, has it")
    return f"the Python package {package} is missing; pip install -r {requirements}"
