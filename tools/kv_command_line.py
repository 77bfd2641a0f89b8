"""Command lines that refuse what is wrong in one line."""

import argparse
import math
import re
from pathlib import Path


def version():
    """The project's: installing writes it beside this file, a checkout has it where it is built."""
    here = Path(__file__).resolve().parent
    if (here / "VERSION").is_file():
        return (here / "VERSION").read_text().strip()
    return re.search(r"project\(kv-mlir VERSION ([0-9.]+)", (here.parent / "CMakeLists.txt").read_text())[1]


class Parser(argparse.ArgumentParser):
    """Says its version. Texts without a type are not empty: what a shell makes of a variable that is not set is no name, folder or
    address."""

    def __init__(self, **more):
        super().__init__(**more)
        self.register("type", None, _reader(str, bool, "a text that is not empty"))
        self.add_argument("--version", action="version", version=f"{self.prog} {version()}",
                          help="show the version, and end")

    def error(self, message):
        self.exit(2, f"{self.prog}: {message.removeprefix('argument ')}\n")


def _reader(convert, fits, allowed):
    """What argparse calls with a value's text."""
    def read(text):
        try:
            value = convert(text)
        except ValueError:
            value = None
        if value is None or not fits(value):
            raise argparse.ArgumentTypeError(f"{text!r} is given, allowed: {allowed}")
        return value
    return read


def integer(least, most):
    return _reader(int, lambda value: least <= value <= most, f"an integer from {least} to {most}")


def number(allowed, fits):
    return _reader(float, lambda value: math.isfinite(value) and fits(value), f"a number {allowed}")
