"""rows.py FILE: the modules of a file of rows, for kv-opt --split-input-file.

What stands before the first `// -----` is in every module: aliases of types and attributes, but for those that a row
gives itself, and perhaps the line `func.func @f(...) {`. Behind it a row is one of

  a module's text;
  the body of @f, after a line `(%name: type, ...)` if it has arguments of its own; what it makes is no argument;
  `like @g`, the row with this function, and what differs from it: lines `- old` and, in their place, lines `+ new`,
  or `+` alone where nothing comes.
"""

import re
import sys

ALIAS = re.compile(r"^([!#][\w.]+) = ")
ARGUMENT = re.compile(r"(%\w+): ((?:[^,<({]|<(?:[^<>]|<[^<>]*>|->)*>|\([^()]*\)|\{[^{}]*\})+)")
RESULTS = re.compile(r"^ *(%\w+(?:, %\w+)*)(?::\d+)? =", re.M)
CHANGE = re.compile(r"((?:^- .*\n)+)((?:^\+(?: .*)?\n)+)", re.M)


def arguments(line):
    return dict(ARGUMENT.findall(line[line.index("(") + 1:line.rindex(")")]))


def body(row, function):
    """The module of a row that is the body of `function`."""
    lines = row.split("\n")
    at = next(i for i, line in enumerate(lines) if not ALIAS.match(line) and not line.startswith("//"))
    made = {name for names in RESULTS.findall(row) for name in names.split(", ")}
    taken = {name: kind for name, kind in arguments(function).items() if name not in made}
    if lines[at].startswith("("):
        taken |= arguments(lines.pop(at))
    taken = ", ".join(f"{name}: {kind.strip()}" for name, kind in taken.items())
    first = next((i for i, line in enumerate(lines) if not ALIAS.match(line)), 0)
    return "\n".join([*lines[:first], f"func.func @f({taken}) {{", *lines[first:], "return", "}"])


def changed(row, rows):
    """The row that `row` is like, with its changes."""
    name = re.search(r"^like (@\w+)$", row, re.M)[1]
    text = next(one for one in rows if re.search(rf"func\.func {name}\b", one))
    # Without indentation, and what a row is said to be: FileCheck reads that in the file.
    lines = (line.strip() for line in text.split("\n"))
    text = "\n".join(line for line in lines if not line.startswith("//") or "expected-" in line) + "\n"
    for old, new in CHANGE.findall(row + "\n"):
        old, new = ("\n".join(line[2:] for line in part.splitlines()) for part in (old, new))
        assert old in text, f"{name} has no {old!r}"
        text = text.replace(old, new)
    return text


def modules(text):
    head, *rows = re.split(r"\n// -----\n", text)
    aliases = [line for line in head.split("\n") if ALIAS.match(line)]
    function = next((line for line in head.split("\n") if line.startswith("func.func @f(")), None)
    for row in rows:
        row = row.strip("\n")
        if re.search("^like @", row, re.M):
            row = changed(row, rows)
        elif function and "func.func" not in row and "module" not in row:
            row = body(row, function)
        own = {ALIAS.match(line)[1] for line in row.split("\n") if ALIAS.match(line)}
        yield "\n".join([*(line for line in aliases if ALIAS.match(line)[1] not in own), row])


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print("\n// -----\n".join(modules(file.read())))
