"""Functions of C++ headers as terms of z3: clang parses the header itself, and a Machine executes its syntax tree.

An integer is an unbounded one. Where C++ would lose a value (a sum, a product, a conversion that its type cannot hold),
the machine notes a check, which is proved like any other goal. Unsigned types wrap. A loop has an invariant and a
measure; a machine that searches for counterexamples unrolls it instead."""

import concurrent.futures
import functools
import itertools
import json
import re
import subprocess

import z3

WIDTHS = {"int": 32, "unsigned int": 32, "long": 64, "unsigned long": 64, "int32_t": 32, "int64_t": 64, "uint32_t": 32,
          "uint64_t": 64}
PRODUCT, QUOTIENT = (z3.Function(name, z3.IntSort(), z3.IntSort(), z3.IntSort()) for name in ("product", "quotient"))
SPACE = re.compile(r"\s*")
# Of a product whose factors are both free, a proof uses these theorems and no others; z3 proves them by themselves.
LEMMAS = (
    lambda x, y, m, xm, ym: z3.Implies(m >= 0, z3.And(
        z3.Implies(x >= 0, xm >= 0), z3.Implies(x >= 1, xm >= m), z3.Implies(
            x <= 0, xm <= 0), z3.Implies(x <= -1, xm <= -m),
        z3.Implies(x <= 2**31, xm <= 2**31 * m))),
    lambda x, y, m, xm, ym: z3.Implies(x >= 1, z3.And(z3.Implies(m >= 1, xm >= x + m - 1),
                                                      z3.Implies(m >= 2, xm >= 2 * x + m - 2))),
    lambda x, y, m, xm, ym: z3.Implies(z3.And(m >= 0, x < y), xm + m <= ym),
    lambda x, y, m, xm, ym: z3.And(z3.Implies(x + 1 == y, xm + m == ym), z3.Implies(x == y, xm == ym),
                                   z3.Implies(x == 1, xm == m)),
    lambda x, y, m, xm, ym: z3.Implies(z3.And(x > -2**32, x < 2**32, m > -2**31, m < 2**31),
                                       z3.And(xm > -2**63, xm < 2**63)),
)


def divided(a, b, quotient, whole):
    """What a proof uses of a quotient, where `whole` is the quotient times b."""
    return z3.Implies(b > 0, z3.If(a >= 0, z3.And(quotient >= 0, whole <= a, a < whole + b),
                                   z3.And(quotient <= 0, whole >= a, a > whole - b)))


class Struct(dict):
    """The fields of a value of the class `type`."""

    def __init__(self, type, fields):
        super().__init__(fields)
        self.type = type

    __getattr__ = dict.__getitem__


class Array:
    """What a pointer points to: element(index), and what has been stored since."""

    def __init__(self, element, stores=()):
        self.element, self.stores = element, stores

    def __getitem__(self, index):
        value = self.element(index)
        for at, stored in self.stores:
            value = choose(equal(at, index), stored, value)
        return value

    def storing(self, index, value):
        return Array(self.element, (*self.stores, (index, value)))


class Pointer:
    """Element `offset` of an array."""

    def __init__(self, array, offset):
        self.array, self.offset = array, offset


def equal(a, b):
    return a is b or (a == b)


def choose(condition, a, b):
    if isinstance(condition, bool):
        return a if condition else b
    if a is b:
        return a
    if isinstance(a, dict):
        return Struct(a.type, {name: choose(condition, a[name], b[name]) for name in a})
    if isinstance(a, Array):
        count = next((i for i, (p, q) in enumerate(zip(a.stores, b.stores))
                     if p is not q), min(len(a.stores), len(b.stores)))
        assert a.element is b.element and len(b.stores) == count, "stores of one branch alone"
        kept = [(at, choose(condition, value, Array(a.element, a.stores[:i])[at]))
                for i, (at, value) in enumerate(a.stores) if i >= count]
        return Array(a.element, (*a.stores[:count], *kept))
    return z3.If(condition, a, b)


def number(value):
    """A bool as an integer."""
    if isinstance(value, bool):
        return int(value)
    return z3.If(value, 1, 0) if z3.is_bool(value) else value


def truth(value):
    return value if isinstance(value, bool) or z3.is_bool(value) else value != 0


def both(a, b):
    return b if a is True else a if b is True else z3.And(a, b)


def negated(a):
    return not a if isinstance(a, bool) else z3.Not(a)


def type_of(node):
    type = node.get("type", {})
    return (type.get("desugaredQualType") or type.get("qualType", "")).replace("const ", "").removeprefix("kv::plan::")


def parsed(text, name, includes):
    return subprocess.run(
        ["clang++-22", "-std=c++20", *(f"-I{folder}" for folder in includes), "-fsyntax-only", "-x", "c++", "-",
         "-Xclang", "-ast-dump=json", "-Xclang", f"-ast-dump-filter={name}"],
        input=text, capture_output=True, text=True, check=True, cwd=includes[-1]).stdout


class Source:
    """The functions, classes and constants that clang reads in texts. `texts`: [(text, part of a qualified name)]."""

    def __init__(self, texts, includes):
        self.functions, self.records, self.ids, self.constants = {}, {}, {}, {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            dumps = [*pool.map(lambda each: parsed(*each, includes), texts)]
        for number, dump in enumerate(dumps):
            decoder, at = json.JSONDecoder(), 0
            while (at := SPACE.match(dump, at).end()) < len(dump):
                tree, at = decoder.raw_decode(dump, at)
                self._collect(tree)

    def function(self, name, count, type=""):
        """By its name and number of parameters; of that class, if it has one. Of a template, the last instance."""
        return self.functions.get((type.split("<")[0], name, count)) or self.functions[name, count]

    def _collect(self, node, type=""):
        kind, inner = node.get("kind", ""), node.get("inner", [])
        if kind in ("FunctionDecl", "CXXMethodDecl") and any(each["kind"] == "CompoundStmt" for each in inner):
            self.ids[node["id"]] = node
            count = sum(each["kind"] == "ParmVarDecl" for each in inner)
            self.functions[node["name"], count] = self.functions[type, node["name"], count] = node
        elif kind == "VarDecl" and inner:
            self.ids[node["id"]] = node
        elif kind == "EnumDecl":
            following = 0
            for each in inner:
                if each["kind"] == "EnumConstantDecl":
                    given = next((c["value"] for c in each.get("inner", []) if "value" in c), following)
                    self.constants[each["name"]] = int(given)
                    following = int(given) + 1
        elif kind in ("CXXRecordDecl", "ClassTemplateSpecializationDecl"):
            fields = [each for each in inner if each["kind"] == "FieldDecl"]
            if fields and "name" in node:
                self.records[node["name"]] = {each["name"]: type_of(each) for each in fields if "name" in each}
        if kind not in ("FunctionDecl",):
            for each in inner:
                self._collect(each, node.get("name", "") if "Record" in kind or "Specialization" in kind else type)


class Machine:
    """Executes functions of a Source. `loops`: {function: [(invariant, measure)]}, each a function of the variables by
    name; with `unroll`, loops are that many copies of their body instead, and products are what they are."""

    def __init__(self, source, unroll=0):
        self.source, self.unroll, self.loops, self.stubs = source, unroll, {}, {}
        self.members, self.constants = {}, {}  # what members of a block do; constants whose value is free
        self.assumptions, self.goals, self.facts, self.calls, self.names = [], [], [], [], itertools.count()
        self.alike = False  # whether products are compared whose common factor has two names
        self.products, self.assumed, self.left, self.exits, self.names_of = {}, [], [], [], {}

    def goal(self, name, path, formula):
        """What holds after later loops may rest on this goal: it must not be used."""
        self.goals.append((name, path, formula, len(self.exits), len(self.assumptions)))

    # Values

    def fresh(self, name, type="int64_t"):
        if type == "bool":
            return z3.Bool(f"{name}!{next(self.names)}")
        value, bits = z3.Int(f"{name}!{next(self.names)}"), WIDTHS[type] - 1
        self.facts.append(z3.And(value >= -2**bits, value < 2**bits))
        return value

    def renewed(self, value, name):
        """A value of the same kind about which nothing is known."""
        if isinstance(value, dict):
            return Struct(value.type, {field: self.renewed(each, f"{name}.{field}") for field, each in value.items()})
        if isinstance(value, Array):
            return self.array(name, value[0])
        return self.fresh(name, "bool" if isinstance(value, bool) or z3.is_bool(value) else "int64_t")

    def zero(self, type):
        return Struct(type, {name: of != "bool" and 0 for name, of in self.source.records[type].items()})

    def array(self, name, like):
        """An array of structs like `like` (or of integers) of free values."""
        number = next(self.names)
        if not isinstance(like, dict):
            return Array(functools.cache(z3.Function(f"{name}!{number}", z3.IntSort(), z3.IntSort())))
        fields = {field: z3.Function(f"{name}.{field}!{number}", z3.IntSort(), z3.IntSort()) for field in like}
        return Array(lambda index: Struct(like.type, {field: each(index) for field, each in fields.items()}))

    def product(self, a, b):
        if isinstance(a, int) or isinstance(b, int) or self.unroll:
            return a * b
        a, b = sorted((z3.simplify(a), z3.simplify(b)), key=lambda each: each.sexpr())
        for factor, other in ((a, b), (b, a)):
            if z3.is_int_value(factor):
                return factor * other
            if z3.is_mul(factor) and factor.num_args() == 2 and z3.is_int_value(factor.arg(0)):
                return factor.arg(0) * self.product(factor.arg(1), other)
        result = PRODUCT(a, b)
        if result.get_id() not in self.products:
            self.facts.append(result == PRODUCT(b, a))
            self.products[result.get_id()] = (result, (a, b))
            for (x, m), (other, factors) in itertools.product(((a, b), (b, a)), self.products.values()):
                for y, n in (factors, factors[::-1]):
                    if n.eq(m) or self.alike and not result.eq(other):
                        self.facts += [z3.Implies(m == n, z3.And(lemma(x, y, m, result, other),
                                                                 lemma(y, x, m, other, result))) for lemma in LEMMAS]
        return result

    def quotient(self, a, b):
        """Rounded towards zero, as C++ has it. No divisor is negative."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b if a >= 0 else -(-a // b)
        if isinstance(b, int) or self.unroll:
            return z3.If(a >= 0, a / b, -(-a / b))
        a, b = (z3.simplify(z3.IntVal(each) if isinstance(each, int) else each) for each in (a, b))
        result = QUOTIENT(a, b)
        self.facts.append(divided(a, b, result, self.product(result, b)))
        return result

    def kept(self, value, type, path, what, was=""):
        """`value` as `type` has it: wrapped if that is unsigned, else with the check that it fits."""
        if type not in WIDTHS or isinstance(value, bool) or z3.is_bool(value):
            return value
        bits = WIDTHS[type]
        if type.startswith("u"):
            return value if was.startswith("u") and WIDTHS[was] <= bits else value % 2**bits
        if was.startswith("u"):  # C++20 wraps it
            return value if WIDTHS[was] < bits else choose(value < 2**(bits - 1), value, value - 2**bits)
        fits = z3.And(value >= -2**(bits - 1), value < 2**(bits - 1)) if z3.is_expr(value) else -2**63 <= value < 2**63
        if fits is not True:
            self.goal(f"{what} fits into {type}", path, fits)
        return value

    # Calls

    def call(self, name, *arguments, given=(), this=None):
        """(The result, the arguments after the call) of a function that is called under the conditions `given`."""
        function = self.source.function(name, len(arguments), this.type if this else "")
        result, after = self._call(function, [*arguments], [*given], this)
        types = [each["type"]["qualType"] for each in function["inner"] if each["kind"] == "ParmVarDecl"]
        after = [new if type[-1] in "&*" else old for type, old, new in zip(types, arguments, after)]
        self.calls.append((name, arguments, this, result, after, [*given]))
        return result, after

    def value(self, name, *arguments, **more):
        return self.call(name, *arguments, **more)[0]

    def _call(self, function, arguments, path, this):
        name = function["name"]
        if name in self.stubs:
            return self.stubs[name](*arguments), arguments
        inner = function["inner"]
        parameters = [each for each in inner if each["kind"] == "ParmVarDecl"]
        self.names_of.update((each["id"], each.get("name", "")) for each in parameters)
        env = {each["id"]: value for each, value in zip(parameters, arguments)} | {
                                                        "this": this, "name": name, "loops": 0}
        outcomes, env, rest = self._run(next(each for each in inner if each["kind"] == "CompoundStmt"), env, path)
        if env is not None:
            outcomes.append((rest, None, env))
        after, result = [outcomes[-1][2][each["id"]] for each in parameters], outcomes[-1][1]
        self.this = outcomes[-1][2]["this"]
        for taken, value, left in reversed(outcomes[:-1]):
            condition = z3.And(taken[len(path):])
            result = choose(condition, value, result)
            after = [choose(condition, left[each["id"]], old) for each, old in zip(parameters, after)]
        return result, after

    # Statements: (outcomes of returns, what the variables are after it or None, the path after it)

    def _run(self, node, env, path):
        kind, inner = node["kind"], node.get("inner", [])
        if kind == "CompoundStmt":
            outcomes = []
            for each in inner:
                more, env, path = self._run(each, env, path)
                outcomes += more
                if env is None:
                    break
            return outcomes, env, path
        if kind == "ReturnStmt":
            value = self._value(inner[0], env, path) if inner else None
            return [(path, value, env)], None, path
        if kind == "DeclStmt":
            for each in inner:
                if each["kind"] == "VarDecl":
                    self.names_of[each["id"]] = each["name"]
                    env[each["id"]] = self._value(each["inner"][0], env, path) if each.get("inner") else \
                        self.zero(type_of(each))
            return [], env, path
        if kind == "IfStmt":
            return self._branch(inner, node, env, path)
        if kind in ("WhileStmt", "ForStmt"):
            return self._loop(node, env, path)
        self._value(node, env, path)
        return [], env, path

    def _branch(self, inner, node, env, path):
        condition = truth(self._value(inner[0], env, path))
        ways = [(condition, inner[1]), (negated(condition), inner[2] if node.get("hasElse") else None)]
        if isinstance(condition, bool):
            taken = ways[not condition][1]
            return self._run(taken, env, path) if taken else ([], env, path)
        outcomes, ends = [], []
        for case, statement in ways:
            result = self._run(statement, dict(env), [*path, case]) if statement else ([], dict(env), [*path, case])
            outcomes += result[0]
            ends.append(result)
        (_, left, leftPath), (_, right, rightPath) = ends
        if left is None or right is None:
            return (outcomes, right, rightPath) if left is None else (outcomes, left, leftPath)
        loops = max(left["loops"], right["loops"])
        return outcomes, {key: choose(condition, left[key], right[key]) if key in left and key in right else None
                          for key in env} | {"loops": loops}, path

    def _loop(self, node, env, path):
        inner = node["inner"]
        if node["kind"] == "ForStmt":
            begin, _, test, step, body = inner
            _, env, _ = self._run(begin, env, path)
            body = {"kind": "CompoundStmt", "inner": [body, step]}
        else:
            test, body = inner
        number, env["loops"] = env["loops"], env["loops"] + 1
        if self.unroll or env["name"] not in self.loops:
            return self._unrolled(test, body, env, path)
        invariant, measure = self.loops[env["name"]][number]
        nested = env["loops"]
        what = f"{env['name']}: loop {number}"
        self.goal(f"{what} begins", path, invariant(self.named(env)))
        before = dict(env)
        for key in assigned(body, set()) & env.keys():
            before[key] = self.renewed(env[key], self.names_of[key])
        state = self.named(before)
        holds = invariant(state)
        condition = truth(self._value(test, dict(before), [*path, holds]))
        within = [*path, holds, condition]
        outcomes, after, end = self._run(body, dict(before), within)
        assert not outcomes, "a return in a loop"
        self.goal(f"{what} keeps its invariant", end, invariant(self.named(after)))
        self.goal(f"{what} ends", end, z3.And(measure(state) >= 0, measure(self.named(after)) < measure(state)))
        before["loops"] = max(nested, after["loops"])
        self.exits.append(z3.Implies(z3.And(path), z3.And(holds, negated(condition))))
        self.left.append(state)
        return [], before, path

    def _unrolled(self, test, body, env, path):
        for _ in range(self.unroll or 16):
            condition = truth(self._value(test, env, path))
            if condition is False or not (self.unroll or self._possible(path, condition)):
                return [], env, path
            after = self._run(body, dict(env), [*path, condition])[1]
            env = {key: choose(condition, after[key], env[key]) for key in env if key not in ("name", "loops")} | \
                {"name": env["name"], "loops": env["loops"]}
        ends = negated(truth(self._value(test, env, path)))
        self.assumed.append(z3.Implies(z3.And(path), ends))
        if not self.unroll:
            self.goal(f"{env['name']}: a loop ends", path, ends)
        return [], env, path

    def _possible(self, path, condition):
        solver = z3.Solver()
        solver.set("rlimit", 1_000_000)
        solver.add(*self.assumptions, *path, condition)
        return solver.check() != z3.unsat

    def named(self, env):
        return Struct("", {self.names_of[key]: value for key, value in env.items() if key in self.names_of})

    # Expressions

    def _value(self, node, env, path):
        return getattr(self, "_on" + node["kind"], self._through)(node, node.get("inner", []), env, path)

    def _through(self, node, inner, env, path):
        """Parentheses, casts and copies that change no value."""
        assert len(inner) == 1 or node["kind"] == "SubstNonTypeTemplateParmExpr", f"{node['kind']} is not known"
        value = self._value(inner[-1], env, path)
        if node.get("castKind") in ("IntegralCast", "NoOp") and not isinstance(value, (dict, Array)):
            if type_of(node) not in WIDTHS or type_of(inner[-1]) == type_of(node):
                return value
            return self.kept(value, type_of(node), path, f"{env['name']}: a conversion",
                             type_of(inner[-1]))
        if node.get("castKind") == "IntegralToBoolean":
            return truth(value)
        return value

    def _onIntegerLiteral(self, node, inner, env, path):
        return int(node["value"])

    def _onCXXBoolLiteralExpr(self, node, inner, env, path):
        return node["value"] in (True, "true")

    def _onCXXThisExpr(self, node, inner, env, path):
        return env["this"]

    def _onConstantExpr(self, node, inner, env, path):
        return self._value(inner[0], env, path)

    def _onDeclRefExpr(self, node, inner, env, path):
        to = node["referencedDecl"]
        if to["id"] in env:
            return env[to["id"]]
        if to["kind"] == "EnumConstantDecl":
            return self.source.constants[to["name"]]
        if to["name"] in self.constants:
            return self.constants[to["name"]]
        return self._value(self.source.ids[to["id"]]["inner"][0], {"name": to["name"]}, path)

    def _onMemberExpr(self, node, inner, env, path):
        return self._value(inner[0], env, path)[node["name"]]

    def _onArraySubscriptExpr(self, node, inner, env, path):
        return self._value(inner[0], env, path)[self._value(inner[1], env, path)]

    def _onInitListExpr(self, node, inner, env, path):
        if type_of(node) in WIDTHS:
            return self._value(inner[0], env, path)
        if type_of(node).endswith("]"):
            return Array([self._value(each, env, path) for each in inner].__getitem__)
        fields = self.source.records[type_of(node)]
        return Struct(type_of(node), zip(fields, (self._value(each, env, path) for each in inner), strict=True))

    def _onCXXDefaultInitExpr(self, node, inner, env, path):
        return 0

    _onImplicitValueInitExpr = _onCXXDefaultInitExpr

    def _onConditionalOperator(self, node, inner, env, path):
        condition = truth(self._value(inner[0], env, path))
        if isinstance(condition, bool):
            return self._value(inner[1 if condition else 2], env, path)
        return choose(condition, self._value(inner[1], env, [*path, condition]),
                      self._value(inner[2], env, [*path, negated(condition)]))

    def _onUnaryOperator(self, node, inner, env, path):
        value, opcode = self._value(inner[0], env, path), node["opcode"]
        if opcode in ("++", "--"):
            more = self.kept(value + (1 if opcode == "++" else -1), type_of(node), path, f"{env['name']}: {opcode}")
            self._assign(inner[0], more, env, path)
            return value if node.get("isPostfix") else more
        return negated(truth(value)) if opcode == "!" else -value if opcode == "-" else value

    def _onBinaryOperator(self, node, inner, env, path):
        opcode = node["opcode"]
        if opcode == "=":
            value = self._value(inner[1], env, path)
            self._assign(inner[0], value, env, path)
            return value
        left = self._value(inner[0], env, path)
        if opcode in ("&&", "||"):
            left = truth(left)
            if isinstance(left, bool):
                return truth(self._value(inner[1], env, path)) if left == (opcode == "&&") else left
            right = truth(self._value(inner[1], env, [*path, left if opcode == "&&" else negated(left)]))
            return z3.And(left, right) if opcode == "&&" else z3.Or(left, right)
        return self._operate(opcode, left, self._value(inner[1], env, path), type_of(node), env, path)

    def _onCompoundAssignOperator(self, node, inner, env, path):
        value = self._operate(node["opcode"][:-1], self._value(inner[0], env, path), self._value(inner[1], env, path),
                              type_of(node), env, path)
        self._assign(inner[0], value, env, path)
        return value

    def _operate(self, opcode, a, b, type, env, path):
        if opcode in ("|", "&") and all(isinstance(each, bool) or z3.is_bool(each) for each in (a, b)):
            return {"|": z3.Or, "&": z3.And}[opcode](a, b)
        a, b = number(a), number(b)
        if isinstance(a, (Array, Pointer)):
            b = {"+": b, "-": -b}[opcode]
            return Pointer(a, b) if isinstance(a, Array) else Pointer(a.array, a.offset + b)
        compared = {"==": lambda: equal(a, b), "!=": lambda: negated(equal(a, b)), "<": lambda: a < b,
                    "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b}
        if opcode in compared:
            return compared[opcode]()
        if opcode in "&|":
            assert isinstance(b, int) and b & (b + 1) == 0, "a mask that is no run of low bits"
        value = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: self.product(a, b),
                 "/": lambda: self.quotient(a, b), "%": lambda: a - self.product(self.quotient(a, b), b),
                 "&": lambda: a % (b + 1), "|": lambda: a - a % (b + 1) + b,
                 "<<": lambda: a * 2**b, "^": lambda: a ^ b, ">>": lambda: a >> b if isinstance(a, int) else a / 2**b}[opcode]()
        return self.kept(value, type, path, f"{env['name']}: {opcode}") if opcode in "+-*<<" else value

    def _onCallExpr(self, node, inner, env, path):
        to = inner[0]
        while to["kind"] != "DeclRefExpr":
            to = to["inner"][0]
        to = to["referencedDecl"]
        if to["name"] in self.stubs:
            return self.stubs[to["name"]](*(self._value(each, env, path) for each in inner[1:]))
        if to["name"] in self.members:  # which says what its last argument becomes, too
            result, left = self.members[to["name"]](path, *(self._value(each, env, path) for each in inner[1:]))
            self._assign(inner[-1], left, env, path)
            return result
        function = self.source.ids.get(to["id"]) or self.source.function(to["name"], len(inner) - 1)
        return self._calling(function, inner[1:], env, path, env["this"])

    def _calling(self, function, nodes, env, path, this):
        arguments = [self._value(each, env, path) for each in nodes]
        result, after = self._call(function, arguments, path, this)
        parameters = [each for each in function["inner"] if each["kind"] == "ParmVarDecl"]
        for each, node, value in zip(parameters, nodes, after):
            type = each["type"]["qualType"]
            if type[-1] == "&" and "const " not in type and type[:-2] in (*WIDTHS, *self.source.records):
                self._assign(node, value, env, path)
        return result

    def _onCXXMemberCallExpr(self, node, inner, env, path):
        member = inner[0]
        this = self._value(member["inner"][0], env, path)
        name = member["name"]
        if this.type == "Divisor":  # what its functions give is proved apart
            if name.startswith("operator"):
                return this.divisor
            dividend = self._value(inner[1], env, path)
            self.goal(f"{env['name']}: a dividend is not negative", path, dividend >= 0)
            quotient = self.quotient(dividend, this.divisor)
            return quotient if name == "quotient" else dividend - self.product(quotient, this.divisor)
        if name in self.members:
            return self.members[name](path, *(self._value(each, env, path) for each in inner[1:]))
        result = self._calling(self.source.function(name, len(inner) - 1, this.type), inner[1:], env, path, this)
        self._assign(member["inner"][0], self.this, env, path)
        return result

    def _onUnaryExprOrTypeTraitExpr(self, node, inner, env, path):
        return self.constants["sizeof"]

    def _onCXXOperatorCallExpr(self, node, inner, env, path):
        value = self._value(inner[2], env, path)  # an assignment
        self._assign(inner[1], value, env, path)
        return value

    def _assign(self, node, value, env, path):
        kind, inner = node["kind"], node.get("inner", [])
        if kind == "DeclRefExpr":
            env[node["referencedDecl"]["id"]] = value
        elif kind == "CXXThisExpr":
            env["this"] = value
        elif kind == "MemberExpr":
            old = self._value(inner[0], env, path)
            self._assign(inner[0], Struct(old.type, old | {node["name"]: value}), env, path)
        elif kind == "ArraySubscriptExpr":
            array = self._value(inner[0], env, path)
            self._assign(inner[0], array.storing(self._value(inner[1], env, path), value), env, path)
        elif kind == "ConditionalOperator":
            condition = self._value(inner[0], env, path)
            for each, case in ((inner[1], condition), (inner[2], negated(condition))):
                self._assign(each, choose(case, value, self._value(each, env, path)), env, path)
        else:
            self._assign(inner[0], value, env, path)


def assigned(node, found):
    """The declarations that a statement may change."""
    kind, inner = node.get("kind"), node.get("inner", [])
    if kind in ("CompoundAssignOperator", "CXXOperatorCallExpr") or node.get("opcode") in ("=", "++", "--"):
        targets = [inner[1] if kind == "CXXOperatorCallExpr" else inner[0]]
        while targets:
            target = targets.pop()
            if target["kind"] == "DeclRefExpr":
                found.add(target["referencedDecl"]["id"])
            elif target["kind"] == "ConditionalOperator":
                targets += target["inner"][1:]
            elif target.get("inner"):
                targets.append(target["inner"][0])
    for each in inner:
        assigned(each, found)
    return found
