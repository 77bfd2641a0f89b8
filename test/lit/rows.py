"""rows.py FILE: the modules of a file of rows, for kv-opt --split-input-file.

What stands before the first `// -----` is in every module: aliases of types and attributes, but for those that a row
gives itself, and perhaps the line `func.func @f(...) {`. Behind it a row is a module's text or, where it has no
function, the body of @f, after a line `(%name: type, ...)` if it has arguments of its own. What a body makes is no argument."""

import re
import sys

ALIAS = re.compile(r"^([!#][\w.]+) = ")
ARGUMENT = re.compile(r"(%\w+): ((?:[^,<({]|<(?:[^<>]|<[^<>]*>|->)*>|\([^()]*\)|\{[^{}]*\})+)")
RESULTS = re.compile(r"^ *(%\w+(?:, %\w+)*)(?::\d+)? =", re.M)


def arguments(line):
    return dict(ARGUMENT.findall(line[line.index("(") + 1:line.rindex(")")]))


def modules(text):
    head, *rows = re.split(r"\n// -----\n", text)
    # A comment of several lines would move what is expected below it.
    aliases = [line for line in head.split("\n") if ALIAS.match(line)]
    function = next((line for line in head.split("\n") if line.startswith("func.func @f(")), None)
    for row in rows:
        lines = row.strip("\n").split("\n")
        own = {ALIAS.match(line)[1] for line in lines if ALIAS.match(line)}
        given = [line for line in aliases if ALIAS.match(line)[1] not in own]
        if function and "func.func" not in row and "module" not in row:
            at = next(i for i, line in enumerate(lines) if not ALIAS.match(line) and not line.startswith("//"))
            made = {name for names in RESULTS.findall(row) for name in names.split(", ")}
            taken = {name: kind for name, kind in arguments(function).items() if name not in made}
            if lines[at].startswith("("):
                taken |= arguments(lines.pop(at))
            taken = ", ".join(f"{name}: {kind.strip()}" for name, kind in taken.items())
            first = next((i for i, line in enumerate(lines) if not ALIAS.match(line)), 0)
            lines = [*lines[:first], f"func.func @f({taken}) {{", *lines[first:], "return", "}"]
        yield "\n".join([*given, *lines])


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print("\n// -----\n".join(modules(file.read())))
