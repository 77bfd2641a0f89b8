"""The builders of operations, on stand-ins for MLIR's bindings that keep what they are given. elsewhere/run_builders.py
builds with real ones."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from kvmlir import dialect


class OpView:
    _ODS_OPERAND_SEGMENTS = _ODS_RESULT_SEGMENTS = None

    def __init__(self, name, _, operand_segments, result_segments, **given):
        self.name, self.segments, self.given = name, (operand_segments, result_segments), given
        self.results = [one for one in given["results"] if one is not None]


class Stand(ModuleType):
    """Any other name is a type that can be subscripted."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls)})


@pytest.fixture
def kv(monkeypatch):
    ir = Stand("ir")
    ir.OpView, ir.AttrBuilder = OpView, SimpleNamespace(contains=lambda name: False)
    common = Stand("stand.dialects._ods_common")
    common._cext = SimpleNamespace(
        ir=ir, globals=SimpleNamespace(register_traceback_file_exclusion=lambda file: None),
        register_dialect=lambda each: each, register_operation=lambda of: lambda each: each)
    common.get_default_loc_context = lambda loc: None
    common.get_op_results_or_values = lambda values: values
    for name, module in (("stand", ModuleType("stand")), ("stand.dialects", ModuleType("stand.dialects")),
                         ("stand.dialects._ods_common", common)):
        module.__path__ = []
        monkeypatch.setitem(sys.modules, name, module)
    yield dialect.builders("stand")
    sys.modules.pop("stand.dialects.kv")


def test_operations_have_builders(kv):
    assert dialect.builders("stand") is kv
    operation = kv.store("k", ["kv"], "layer", "rows", v="v")
    assert operation.name == "kv.store" and operation.given["operands"] == ["k", "v", ["kv"], "layer", "rows"]


def test_each_result_has_an_entry(kv):
    """A list that is shorter than the segments would be refused by the bindings."""
    for lse in (None, "lse"):
        operation = kv.AttentionOp("o", lse, "q", ["kv"], "layer", "rows", "causal", 0.5)
        assert operation.given["results"] == ["o", lse] and len(operation.segments[1]) == 2
        assert operation.given["attributes"] == {"mask": "causal", "scale": 0.5}


def test_what_is_missing_is_named(monkeypatch, kv, tmp_path):
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        dialect.builders("nowhere")
    sys.modules.pop("stand.dialects.kv")
    monkeypatch.setattr(dialect, "__file__", str(tmp_path / "dialect.py"))
    with pytest.raises(ModuleNotFoundError, match="the runtime alone, without _kv_ops.py"):
        dialect.builders("stand")
    sys.modules["stand.dialects.kv"] = kv
