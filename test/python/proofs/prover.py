"""States theorems, proves them, and finds counterexamples."""

import itertools
import subprocess
import tempfile
from pathlib import Path

import z3

from cxx import Array, Machine, Struct

# The largest values in which counterexamples are looked for, where it is not 40.
SMALL = {"heads": 2, "parts": 4, "tiles": 3, "group": 3, "tileRows": 4, "leaf": 4, "total": 400, "payload": 400,
         "rowsTo": 400, "start": 200, "sequences": 2, "tokens": 12, "leafEnd": 120, "leafBegin": 120, "slots": 60,
         "offset": 400, "above": 2**31,
         **{dim + "Stride": 4000 for dim in ("head", "token", "layer", "plane", "page")}}


def make_solver():
    """Gives up after so much work, and not after some time: a busy machine proves what an idle one does."""
    solver = z3.Solver()
    solver.set("rlimit", 1_000_000_000)
    return solver


class Theorem:
    """The assumptions and goals that `state` gives about a machine's functions."""

    def __init__(self, source, state, unroll=0, fixed={}):
        self.machine, self.fixed = Machine(source, unroll), fixed
        self.assumptions, self.inputs = self.machine.assumptions, []
        state(self)

    def integer(self, name, type, low):
        value = self.fixed[name] if name in self.fixed else self.machine.fresh(name, type)
        self.inputs.append((name, value))
        self.assume(value >= low)
        if self.machine.unroll and name not in self.fixed:
            self.assume(value <= SMALL.get(name, 40))
        return value

    def integers(self, name):
        inner = self.machine.array(name, 0)
        def element(index, base=inner.element):
            value = base(index)
            self.machine.facts.append(z3.And(value >= -2**31, value < 2**31))
            return value
        return Array(element)

    def value(self, name, *arguments, **more):
        return self.machine.value(name, *arguments, **more)

    def assume(self, *formulas):
        """Of all that follows."""
        self.assumptions += formulas

    def know(self, *formulas):
        """What another theorem proves: of what has gone before, too."""
        self.machine.facts += formulas

    def prove(self, *formulas):
        for each in formulas:
            self.machine.goal(f"goal {len(self.machine.goals) + 1}", [], each)

    def unproved(self):
        """[(what is not proved, "sat" or "unknown", a model)]"""
        found = []
        solver = make_solver()
        solver.add(*self.machine.facts)
        known = assumed = 0
        for name, path, formula, exits, assumptions in self.machine.goals:
            solver.add(*self.machine.exits[known:exits], *self.assumptions[assumed:assumptions])
            known, assumed = exits, assumptions
            solver.push()
            solver.add(*path, z3.Not(formula))
            result = solver.check()
            if result != z3.unsat:
                found.append((name, str(result), solver.model() if result == z3.sat else None))
            solver.pop()
        return found

    def counterexample(self):
        """A model of the assumptions in which a goal about values does not hold, and that goal's name."""
        machine = self.machine
        goals = [(name, z3.And(*path, z3.Not(formula)))
                  for name, path, formula, *_ in machine.goals if " fits " not in name]
        solver = make_solver()
        solver.add(*machine.facts, *self.assumptions, *machine.assumed, z3.Or(*(each for _, each in goals)))
        if solver.check() != z3.sat:
            return None
        model = solver.model()
        return model, next(name for name, each in goals if z3.is_true(model.eval(each, model_completion=True)))


def value_of(model, value):
    """A value in a model, as numbers."""
    if isinstance(value, dict):
        return Struct(value.type, {name: value_of(model, each) for name, each in value.items()})
    if isinstance(value, Array):
        return [value_of(model, value[index]) for index in range(8)]
    if not z3.is_expr(value):
        return value
    value = model.eval(value, model_completion=True)
    return z3.is_true(value) if z3.is_bool(value) else value.as_long()


class Program:
    """A C++ program that makes the calls of a counterexample and prints what they give."""

    def __init__(self, header):
        self.lines, self.header, self.names = [], header, itertools.count()

    def fill(self, place, value):
        """Assigns `value` to a variable or field that exists."""
        if isinstance(value, list):
            name = f"a{next(self.names)}"
            type = f"{value[0].type} " if isinstance(value[0], dict) else "int32_t "
            self.lines.append(f"{type}{name}[{len(value)}]{{}};")
            for index, each in enumerate(value):
                self.fill(f"{name}[{index}]", each)
            self.lines.append(f"{place} = {name};")
        elif isinstance(value, dict) and value.type == "Divisor":
            self.lines.append(f"{place} = {value['divisor']};")
        elif isinstance(value, dict):
            for name, each in value.items():
                self.fill(f"{place}.{name}", each)
        else:
            self.lines.append(f"put({place}, {int(value)});")

    def argument(self, value):
        name = f"v{next(self.names)}"
        of = value[0] if isinstance(value, list) else value
        self.lines.append(f"{of.type if isinstance(of, dict) else 'int32_t' if abs(of) < 2**31 else 'int64_t'} "
                          f"{'*' if of is not value else ''}{name}{{}};")
        self.fill(name, value)
        return name

    def unit(self, value):
        """A unit of probe.h has references."""
        block, params, unit = f"b{next(self.names)}", self.argument(value["p"]), f"u{next(self.names)}"
        self.lines.append(f"probe::B {block}{{{value['b']['lane']}}}; probe::U {unit}{{{block}, {params}, "
                          f"{{{value['rows']['head']}}}, {value['leafBegin']}, {value['leafEnd']}}};")
        return unit

    def call(self, function, arguments, this):
        names = [self.unit(each) if isinstance(each, dict) and each.type ==
                           "U" else self.argument(each) for each in arguments]
        if this:
            owner = f"o{next(self.names)}"
            self.lines.append(f"{this.type} {owner}{{{names[0]}}};")
            self.fill(owner, this)
            function = f"{owner}.{function}"
        result = f"r{next(self.names)}"
        self.lines.append(f"auto {result} = {function}({', '.join(names)});")
        return result, names

    def show(self, place, value):
        self.lines += [f'std::printf("%lld ", (long long)({each}));' for each, _ in leaves(place, value)]

    def run(self, includes):
        text = self.header + "#include <cstdio>\nnamespace kv::cuda {}\n" \
            "using namespace kv::plan;\nusing namespace kv::cuda;\n"\
            "template <class T> void put(T &place, long value) { place = (T)value; }\nint main() {\n" + "\n".join(
                self.lines) + "\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            subprocess.run(["clang++-22", "-std=c++20", *(f"-I{each}" for each in includes), "-x", "c++", "-", "-o",
                            program], input=text, text=True, check=True, cwd=includes[-1])
            return [int(each) for each in subprocess.run([program], capture_output=True, text=True, check=True,
                                                         timeout=60).stdout.split()]


def leaves(place, value):
    """(where it is, the number) of each number in a value, in the order in which programs show them."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from leaves(f"{place}[{index}]", each)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from leaves(f"{place}.{name}", each)
    else:
        yield place, int(value)


def numbers(value):
    return [number for _, number in leaves("", value)]
