"""Raising a model of many unrolled layers takes work that is linear in their number."""

import re

from graphs import opt
from tools import ROOT

BASE = ROOT / "test/passes/raise/raise-softmax.mlir"
LAYERS = 80


def unrolled(layers):
    """The first graph of the lit test, its attention once a layer behind a product with a weight."""
    text = BASE.read_text().split("// -----")[0]
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    first = next(i for i, line in enumerate(lines) if "%q3 =" in line)
    last = next(i for i, line in enumerate(lines) if "%r =" in line)
    body = "\n".join(lines[first:last + 1])
    names = re.findall(r"^ +%(\w+) =", body, re.M)
    parts, rows = [], "%x"
    for layer in range(layers):
        part = body.replace("%x ", f"%y{layer} ")
        for name in names:
            part = re.sub(rf"%{name}\b", f"%{name}_{layer}", part)
        parts.append(f"""    %g{layer} = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
    %y{layer} = linalg.matmul ins({rows}, %w : tensor<?x64xf32>, tensor<64x64xf32>) outs(%g{layer} : tensor<?x64xf32>) -> tensor<?x64xf32>
{part}
    %next{layer} = linalg.add ins(%r_{layer}, {rows} : tensor<?x64xf32>, tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>""")
        rows = f"%next{layer}"
    whole = "\n".join([*lines[:first], *parts, *lines[last + 1:]])
    whole = whole.replace("%head: tensor", "%w: tensor<64x64xf32>, %head: tensor", 1)
    return whole.replace("ins(%r,", f"ins({rows},")


def expressions(layers):
    """(Layers that were raised, remarks with counts, expressions that all took.)"""
    module, remarks = opt(unrolled(layers), "--kv-raise", "--remarks-filter=kv-raise")
    assert module, remarks
    counts = [int(count) for count in re.findall(r"by (\d+) expressions", remarks)]
    return remarks.count("[Passed] Attention"), len(counts), sum(counts)


def test_each_layer_takes_as_much_as_another():
    counts = {layers: expressions(layers) for layers in (LAYERS // 4, LAYERS // 2, LAYERS)}
    for layers, (attentions, remarks, _) in counts.items():
        assert (attentions, remarks) == (layers, 2 * layers)
    each = {layers: work / layers for layers, (_, _, work) in counts.items()}
    assert 20 < each[LAYERS] < 10000
    assert len(set(each.values())) == 1, counts


def test_the_layers_are_in_one_collection():
    module, errors = opt(unrolled(3), "--kv-raise=page=16")
    assert module and "layers = 3, heads = 4" in module, errors
