"""A module in a form that the stock mlir-opt parses: kv operations in generic syntax."""

import re


def operands(text):
    return re.findall(r"%\w+", text)


def to_generic(module):
    def rope(m):
        types = m[3].split(", tensor<?xi32>")
        return f'{m[1]} = "kv.rope"({m[2]}) : ({m[3]}) -> {types[0]}'

    def store(m):
        types, collection, rows = m[2], m[3], "tensor<?xi32>"
        return (f'"kv.store"({", ".join(operands(m[1]))}) : '
                f"({types}, {collection}, index, {rows}) -> ()")

    def attention(m):
        cap = f", softcap = {m[5]} : f32" if m[5] else ""
        sinks = f", {m[8]}" if m[8] else ""
        return (f'{m[1]} = "kv.attention"({", ".join(operands(m[2]))}) '
                f"{{scale = {m[4]} : f32{cap}, mask = {chr(34)}{m[3]}{chr(34)}}} : "
                f"({m[6]}, {m[7]}, index, tensor<?xi32>{sinks}) -> {m[9]}")

    def route(m):
        by, by_type = (f", {m[3]}", f", {m[5]}") if m[3] else ("", "")
        return f'{m[1]} = "kv.route"({m[2]}{by}) : ({m[4]}{by_type}) -> ({m[6]})'

    def experts(m):
        return (f'{m[1]} = "kv.expert_matmul"({", ".join(operands(m[2]))}) : '
                f"({m[3]}, {m[4]}) -> ({m[5]})")

    def recurrence(m):
        types = " ".join(m[4].split())
        return (f'{m[1]} = "kv.{m[2]}"({", ".join(operands(m[3]))}) : '
                f"({types}, {m[5]}, index, tensor<?xi32>) -> {m[6]}")

    module = re.sub(r"(%\w+) = kv\.(state_convolution|state_scan) ([^:]*?)(?: {delta})?\s*: (.*?) in (!\w+), "
                    r"tensor<\?xi32>\s*-> ([^\n]*)", recurrence, module, flags=re.S)
    module = re.sub(r"(%\w+) = kv\.rope ([^:]+?)(?: interleaved)?\s*: (.*)", rope, module)
    module = re.sub(r"kv\.store (.*?)\s*: (.*?) into (!\w+), tensor<\?xi32>", store, module,
                    flags=re.S)
    module = re.sub(r"(%\w+) = kv\.attention (.*?) mask <(.*?)> scale (\S+)(?: softcap (\S+))?"
                    r"\s*: (.*?) in (!\w+), tensor<\?xi32>(?: sinks (\S+))? -> (.*)", attention, module)
    module = re.sub(r"(%\w+, %\w+) = kv\.route (%\w+)(?: by (%\w+))?[\w ]*\s*: (\S+)(?: by (\S+))? -> (.*)",
                    route, module)
    module = re.sub(r"(%\w+) = kv\.keep_groups (%\w+) [\w ]*: (.*?) -> (.*)",
                    r'\1 = "kv.keep_groups"(\2) : (\3) -> \4', module)
    module = re.sub(r"(%\w+(?:, %\w+)*) = kv\.expert_matmul (.*?)\s*: (.*?) experts (.*?)\s*-> (.*)",
                    experts, module)
    return re.sub(r"kv\.positions (%kv, %row_offsets) : (.*?) -> (.*)",
                  r'"kv.positions"(\1) : (\2) -> \3', module)
