"""Limits on the sources: how long functions and files are, how often a name of a type is taken, and words of the past.

Functions and types of C and C++ are those that Universal Ctags finds, functions of Python those of its own parser."""

import ast
import json
import re
import subprocess
from collections import defaultdict

from house import SOURCES

FUNCTION_LINES, FILE_LINES, TYPE_PLACES = 80, 600, 2
# A class says with these names what it is made with, which form a value of it has, and what it hides. Each is read
# with the name of its class (`PagePool::Options`), so as nested types they may be defined in any number of places.
NESTED = ("Options", "Kind", "State")
# (folders, folders of them that may, pattern, what is wrong).
WORDS = [(("kernels",), ("kernels/emulator",), re.compile(r"\bFault"), "kernels are broken from outside, by Faulty"),
         (("passes", "dialect"), (), re.compile(r'\bcallee\s*[=!]=|[cC]allee\(\)\s*[=!]=\s*"'),
          "what a launch does is read in Symbols.def, not in its name")]


def under(path, folders):
    return path.startswith(tuple(folder + "/" for folder in folders))


def tags(root, paths):
    """(path, tag) of each function and type that the files of C and C++ define."""
    paths = [path for path in paths if path.endswith(SOURCES)]
    done = subprocess.run(
        ["ctags", "-L", "-", "--output-format=json", "--languages=C,C++", "--langmap=C++:.h.cpp.cu.cuh",
         "--kinds-C=fsg", "--kinds-C++=fcsg", "--fields=+neZ", "-o", "-", "--sort=no"],
        input="\n".join(paths), cwd=root, capture_output=True, text=True, check=True)
    return [(tag["path"], tag) for tag in map(json.loads, done.stdout.splitlines()) if tag["_type"] == "tag"]


def long_functions(root, paths):
    """Those of more than FUNCTION_LINES lines, from the line of the name to that of the last brace."""
    found = [(path, tag["line"], tag["name"], tag["end"]) for path, tag in tags(root, paths)
             if tag["kind"] == "function" and "end" in tag]
    for path in paths:
        if path.endswith(".py"):
            found += [(path, node.lineno, node.name, node.end_lineno)
                      for node in ast.walk(ast.parse((root / path).read_text()))
                      if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [f"{path}:{first}: {name} has {last - first + 1} lines, allowed: {FUNCTION_LINES}"
            for path, first, name, last in found if last - first >= FUNCTION_LINES]


def long_files(root, paths):
    lengths = {path: len((root / path).read_text().splitlines()) for path in paths if not path.startswith("test/")}
    return [f"{path}:{FILE_LINES + 1}: the file has {lines} lines, allowed: {FILE_LINES}"
            for path, lines in lengths.items() if lines > FILE_LINES]


def common_types(root, paths):
    """The places of each name of a type that the product defines in more than TYPE_PLACES. A specialisation of a
    template is none."""
    places = defaultdict(list)
    for path, tag in tags(root, [path for path in paths if not path.startswith("test/")]):
        name = tag["name"]
        if tag["kind"] == "function" or name.startswith("__anon") or f"{name}<" in tag["pattern"]:
            continue
        if name not in NESTED or tag.get("scopeKind") not in ("class", "struct"):
            places[name].append(f"{path}:{tag['line']}")
    return [f"{', '.join(found)}: {name} is defined in {len(found)} places, allowed: {TYPE_PLACES}"
            for name, found in places.items() if len(found) > TYPE_PLACES]


def banned_words(root, paths):
    return [f"{path}:{number}: {line.strip()}: {wrong}" for folders, exempt, pattern, wrong in WORDS
            for path in paths if path.endswith((*SOURCES, ".td", ".def")) and under(path, folders)
            and not under(path, exempt)
            for number, line in enumerate((root / path).read_text().splitlines(), 1) if pattern.search(line)]
