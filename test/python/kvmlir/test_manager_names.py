"""docs/reference/managers.md is the table of MAX's names: what its pages document, and where that is in C++, C and
Python. What it says is true: a row's C++ names compile; its scenarios (test/conformance/scenarios) pass in C and in Python and
call all of the row's functions and methods; the methods have the parameters and defaults that the row gives them."""

import ast
import functools
import inspect
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kvmlir
from kvmlir import (CPU, ContinuousBatchingKVCacheManager, KVCacheParams, KVCacheStrategy, KVConnectorType,
                    MultiKVCacheParams, NullKVCacheManager, PagedKVCacheManager, TextGenerationContext)
from scenario import Scenario
from tools import ROOT, find

# How many names each of MAX's pages documents.
PAGES = {"PagedKVCacheManager": 28, "ContinuousBatchingKVCacheManager": 12, "NullKVCacheManager": 23,
         "KVCacheParams": 15}
# These are the compiler's: a module that has them, and that kv-opt accepts.
GRAPH_VALUES = {
    "ContinuousBatchingKVCache(value)": "!kv.cache<continuous, …>",
    "ContinuousBatchingKVCacheType": "!kv.cache<continuous, …>",
    "ContinuousBatchingKVCacheCollection(value)": "!kv.collection<continuous, …>",
    "ContinuousBatchingKVCacheCollectionType": "!kv.collection<continuous, …>",
    "FetchContinuousBatchingKVCacheCollection(kv_params)": "kv.fetch",
}
COLUMNS = ["name there", "here", "in C", "scenarios", "notes"]
SCENARIOS = {path.stem: path for path in (ROOT / "test/conformance/scenarios").rglob("*.json")}
# Of the C interface; they belong to no name.
WITHOUT_A_ROW = {"kvErrorMessage", "kvManagerDestroy", "kvRequestDestroy", "kvManagerGetInputDLPack"}


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def sections():
    """The rows of each section's table, as dictionaries by column."""
    found = {}
    for section in (ROOT / "docs/reference/managers.md").read_text().split("\n## ")[1:]:
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")]
                 for line in section.splitlines() if line.startswith("| ")]
        if not lines or lines[0][0] != COLUMNS[0]:
            continue  # no section of names
        assert lines[0] == COLUMNS
        assert all(len(line) == len(COLUMNS) for line in lines)
        found[re.search(r"`(\w+)`", section)[1]] = [dict(zip(COLUMNS, line)) for line in lines[2:]]
    return found


ROWS = [(page, row) for page, rows in sections().items() for row in rows]
NAMES = [(page, name) for page, row in ROWS for name in code(row["name there"])]


def test_the_document_has_the_names_of_the_pages():
    assert list(sections()) == [*PAGES, "TextGenerationContext"]
    assert {page: len({name for where, name in NAMES if where == page}) for page in PAGES} == PAGES
    assert len(set(NAMES)) == len(NAMES)
    assert {(name, span) for _, row in ROWS if row["scenarios"].startswith("none: ")
            for name in code(row["name there"]) for span in code(row["here"])} == set(GRAPH_VALUES.items())


# ---- Python's signatures --------------------------------------------------------------------------------


def arguments(signature):
    """[(name, default)] of what stands between parentheses; a required one has ... for its default."""
    made = ast.parse(f"def f({signature}): pass").body[0].args
    names = [one.arg for one in made.posonlyargs + made.args]
    defaults = [...] * (len(names) - len(made.defaults)) + [ast.literal_eval(d) for d in made.defaults]
    more = ["*" + made.vararg.arg] if made.vararg else []
    return [one for one in (*zip(names, defaults), *((one, ...) for one in more)) if one[0] != "self"], bool(made.kwarg)


def parameters(function):
    """The same of a function, of Python or of the extension, without self."""
    if described := getattr(function, "__nb_signature__", None):
        # nanobind's: the text, in which \0, \1, ... stand for the defaults after the docstring.
        text, _, *more = described[0]
        text = re.sub(r"\\(\d+)", lambda number: repr(more[0][int(number[1])]), text)
        return arguments(text[text.index("(") + 1:text.rindex(") ->")])[0]
    return [(("*" if one.kind is one.VAR_POSITIONAL else "") + one.name,
             ... if one.default is one.empty else one.default)
            for one in inspect.signature(function).parameters.values()
            if one.name != "self" and one.kind in (one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)]


@pytest.mark.parametrize("page,name", NAMES)
def test_a_name_is_there_with_its_parameters(page, name):
    head, is_called, between = name.partition("(")
    where = kvmlir if hasattr(kvmlir, head) else getattr(
        kvmlir, "MultiKVCacheParams" if page == "KVCacheParams" else page)
    if not is_called:
        assert hasattr(where, head) or head in where.__dataclass_fields__
        return
    wanted, takes_more = arguments(between.removesuffix(")"))
    function = getattr(where, head)
    given = parameters(function.__init__ if isinstance(function, type) else function)
    assert given[:len(wanted)] == wanted
    # What is added, may be left out.
    assert all(default is not ... for _, default in given[len(wanted):]), given
    if takes_more:
        assert any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())


# ---- C++ ------------------------------------------------------------------------------------------------


def cpp_names(page):
    """(class or namespace, member) of everything that the section's column "here" names."""
    names = set()
    for row in sections()[page]:
        spans = code(row["here"])
        assert spans, row
        for span in spans:
            if span in GRAPH_VALUES.values():
                continue
            match = re.fullmatch(r"(?:(\w+)::)?(\w+)(\(.*\))?", span)
            assert match and (match[1] or match[3]), f"`{span}` is neither a call nor a member"
            names.add((match[1] or page, match[2]))
    return sorted(names)


def program(names):
    """A translation unit that compiles if all names are there."""
    lines = [f'#include "kv/Runtime/Manager/{header}.h"'
             for header in ("ContinuousBatchingKVCacheManager", "LoadKVCacheManager", "NullKVCacheManager")]
    for i, (scope, member) in enumerate(names):
        if scope == "kv":
            lines.append(f"using kv::{member};")
        else:
            lines.append(f"struct Has{i} : kv::{scope} {{ using {scope}::{member}; }};")
    return "\n".join(lines) + "\n"


def compiles(source):
    compiler = os.environ.get("KV_CXX") or shutil.which("clang++-22") or shutil.which("g++")
    assert compiler, "there is no C++ compiler"
    return subprocess.run([compiler, "-std=c++23", "-fsyntax-only", f"-I{ROOT}/include", "-xc++", "-"],
                          input=source, capture_output=True, text=True, timeout=300)


def test_what_rows_name_in_cpp_is_there():
    names = sorted({name for page in sections() for name in cpp_names(page)})
    assert len(names) > 60
    done = compiles(program(names))
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_there_does_not_compile():
    for missing in (("PagedKVCacheManager", "externalClaim"), ("kv", "loadKVCacheManagers"),
                    ("RaggedKVCacheInputs", "isEmpty")):
        done = compiles(program([("PagedKVCacheManager", "claim"), missing]))
        assert done.returncode != 0 and missing[1] in done.stderr


# ---- C --------------------------------------------------------------------------------------------------


def library():
    """libkv_runtime.so, which lies beside the programs' folder."""
    for program in ("kv-conformance", "kv-run"):
        if (found := find(program)) and (path := Path(found).parent.parent / "lib/libkv_runtime.so").exists():
            return path
    pytest.fail("libkv_runtime.so is not built")


def test_the_c_interface_has_what_rows_name_and_nothing_else():
    listed = subprocess.run(["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in listed.stdout.splitlines() if " T kv" in line}
    named = {name for _, row in ROWS for name in code(row["in C"])}
    page = (ROOT / "docs/guides/c.md").read_text().split("\n## Functions\n")[1]
    others = {name for line in page.splitlines() if line.startswith("| `") for name in code(line.split(" | ")[0])}
    assert not others & named
    assert named | others | WITHOUT_A_ROW == exported
    headers = "\n".join(path.read_text() for path in (ROOT / "include/kv/Runtime/C").glob("*.h"))
    assert not [name for name in exported if not re.search(rf"\b{name}\(", headers)]
    text = (ROOT / "docs/reference/managers.md").read_text()
    assert not [name for name in WITHOUT_A_ROW if f"`{name}`" not in text]



# ---- Scenarios, in C and in Python ----------------------------------------------------------------------


@functools.cache
def calls_in_c(scenario):
    program = find("kv-conformance")
    assert program, "kv-conformance is not built"
    done = subprocess.run([program, "--calls", SCENARIOS[scenario]], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r" calls (\w+)$", done.stdout, re.M))


@functools.cache
def calls_in_python(scenario, older):
    made = Scenario(SCENARIOS[scenario], older)
    made.run()
    assert made.checks > 0
    return made.called


@pytest.mark.parametrize("older", [False, True], ids=["newer", "older"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_in_python(scenario, older):
    """older: with the older of two names of a method, and with maybe_reserve() instead of alloc()."""
    calls_in_python(scenario, older)


@pytest.mark.parametrize("page,row", ROWS, ids=[f"{p}-{code(r['name there'] + r['here'])[0].split('(')[0]}"
                                                for p, r in ROWS])
def test_a_row_has_scenarios_that_call_it(page, row):
    if row["scenarios"].startswith("none: "):
        # Only what no manager does has none.
        assert row["in C"] == "–" and len(row["scenarios"]) > len("none: ")
        return
    scenarios = code(row["scenarios"])
    assert scenarios and code(row["in C"]), row
    assert set(code(row["in C"])) <= set().union(*map(calls_in_c, scenarios))
    heads = {name.partition("(")[0] for name in code(row["name there"])}
    in_python = set().union(*(calls_in_python(one, older) for one in scenarios for older in (False, True)))
    assert {f"{page}.{head}" for head in heads - FIELDS - {page}} <= in_python


# ---- What is Python's own: types of results, forms of arguments, sentences ------------------------------

# Names that scenarios do not call: the tests below do.
FIELDS = {"MultiKVCacheParams", "from_params", "params", "page_size", "data_parallel_degree", "n_devices",
          "kv_connector", "host_kvcache_swap_space_gb", "speculative_method", "num_draft_tokens", "block_shape"}
VIRTUAL = ["virtual:sm_90a"]


def params(devices=1, replicas=1, **more):
    return KVCacheParams(**{
        "dtype": "f32", "n_kv_heads": 2, "head_dim": 4, "page_size": 2, "n_devices": devices,
        "data_parallel_degree": replicas, "enable_prefix_caching": True, **more})


def slots(**more):
    return params(cache_strategy=KVCacheStrategy.CONTINUOUS, enable_prefix_caching=False, **more)


def multi(**more):
    return MultiKVCacheParams.from_params(params(num_layers=3, **more), params(num_layers=1, **more))


class Serving:
    """A manager and two requests of 5 tokens each, the second on the last replica."""

    def __init__(self, manager, steps=1):
        self.manager = manager
        self.one, self.two = TextGenerationContext(range(5), 1), TextGenerationContext(range(100, 105), 2)
        self.batch = [self.one, self.two]
        if steps:
            manager.claim(1, 0)
            manager.claim(2, manager.num_replicas - 1)
            for one in self.batch:
                manager.alloc(one, steps)

    def __getattr__(self, name):
        return getattr(self.manager, name)


def paged(steps=1, devices=1, replicas=1, **more):
    return Serving(PagedKVCacheManager(params(devices, replicas), 4, 32, 3, [CPU(i) for i in range(devices)], None, 0,
                                       num_pages=16, warn=False, **more), steps)


def continuous(steps=1):
    return Serving(ContinuousBatchingKVCacheManager(slots(), 4, 16, 3, [CPU()], None), steps)


def null(steps=1):
    return Serving(NullKVCacheManager(params(), 4, 32, 3, VIRTUAL, None, 1 << 20), steps)


def test_types_of_results():
    own = paged(0, 2, 2)
    assert own.contains(1) is False and own.claim(1, 0) is None and own.external_claim(2, replica_idx=1) is None
    assert own.contains(1) is True and own.get_req_blocks(1) == [] and own.get_replica(own.two) == 1
    assert own.maybe_reserve(own.one) is True and own.maybe_reserve(own.two, num_steps=28) is True
    assert own.maybe_reserve(own.one, num_steps=28) is True and type(own.get_req_blocks(1)) is list
    splits = own.get_data_parallel_splits(own.batch)
    assert splits.dtype == np.int64 and splits.tolist() == [0, 1, 2]
    assert own.metrics.cache_tokens == 0
    assert [own.release(1), own.reset_metrics(), own.reset_prefix_cache()] == [None] * 3
    full = paged()
    assert full.maybe_reserve(full.two, num_steps=28) is False and len(full.get_req_blocks(2)) == 3
    with pytest.raises(ValueError):
        full.maybe_reserve(full.two, num_steps=65)  # no lack of pages, but a step too many
    own = null()
    assert own.get_data_parallel_splits(own.batch) == [[0, 1]] and own.get_req_blocks(1) == []
    assert [own.claim(3, 0), own.alloc(own.one), own.alloc(own.two, num_steps=7), own.step(own.batch),
            own.release("nobody"), own.reset_metrics(), own.reset_prefix_cache()] == [None] * 7
    inputs = own.get_runtime_inputs(own.batch)
    assert own.increment_cache_lengths(inputs, None) is inputs


def test_inputs():
    own = paged()
    [inputs] = own.get_runtime_inputs(own.batch)
    assert [one.shape for one in inputs] == [(17, 2, 3, 2, 2, 4), (2,), inputs.lookup_table.shape, (1, 2)]
    assert inputs.lookup_table.numpy()[0, 0] == own.get_req_blocks(1)[0]
    own.get_runtime_inputs(own.batch)
    refuses(lambda: inputs.blocks, ValueError,
            "these inputs are of an earlier step: the manager has written later ones to their memory")


OFFSETS = np.array([0, 5, 10], np.int32)


class Previous:
    input_row_offsets = OFFSETS


@pytest.mark.parametrize("previous", [OFFSETS, [0, 5, 10], Previous(), {"row_offsets": OFFSETS},
                                      (np.zeros(10, np.int32), OFFSETS)])
def test_forms_of_previous_inputs(previous):
    for own, lengths in ((paged(2), lambda one: one.cache_lengths), (continuous(2), lambda one: one[1])):
        [inputs] = own.increment_cache_lengths(own.fetch(own.batch, 2), previous)
        assert lengths(inputs).numpy().tolist() == [5, 5] and not inputs.is_cache_empty
        assert inputs.max_lengths.numpy().tolist() == [[1, 6]]


@pytest.mark.parametrize("ids", [[1, 2], None], ids=["ids", "contexts"])
def test_slots_are_tuples(ids):
    own = continuous()
    assert own.block_shape(4) == [4, 2, 3, 16, 2, 4]
    [(blocks, lengths, table, is_empty)] = own.fetch(ids or own.batch)
    assert blocks.shape == (4, 2, 3, 16, 2, 4) and is_empty.shape == () and is_empty
    assert lengths.numpy().tolist() == [0, 0] and table.numpy().tolist() == [0, 1]
    own.release(2)
    refuses(lambda: own.fetch([1, 2]), ValueError, "sequence 2 is not in the cache: alloc() gives it its context")


def symbols_of(own):
    return [[(one.name, one.dtype, one.shape) for one in device] for device in own.get_symbolic_inputs()]


def test_symbols():
    [symbols] = paged(0).get_symbolic_inputs()
    assert isinstance(symbols.kv_blocks, kvmlir.BufferType) and symbols.kv_blocks.dtype is kvmlir.DType.float32
    assert symbols.cache_lengths == kvmlir.TensorType(
        kvmlir.DType.int32, ("kv.batch",), CPU(), "kv.cache_lengths")
    assert symbols_of(null(0)) == symbols_of(paged(0))
    assert null(0).get_symbolic_inputs(VIRTUAL, 5)[0].kv_blocks.shape[2] == 5
    assert len(paged(0, 2, 2).input_symbols(devices=[CPU()])) == 1
    assert len(multi().get_symbolic_inputs().inputs) == 2 and len(multi().get_symbolic_inputs().flatten()) == 8
    for grid in ((2, 1), (2, 2)):  # with several devices as the manager has them
        assert params(*grid, num_layers=3).get_symbolic_inputs().inputs == list(paged(0, *grid).get_symbolic_inputs())


def test_sizes_and_defaults():
    page = params(num_layers=3).bytes_per_block
    size = PagedKVCacheManager.estimated_memory_size(params(), 2, 8, 3, page << 10, [CPU()])
    assert size == kvmlir.estimate_kv_cache_size(params(), 2, 8, 3, page << 10, [CPU()])
    assert size == PagedKVCacheManager(params(), 2, 8, 3, [CPU()], None, page << 10).pool_bytes
    size = ContinuousBatchingKVCacheManager.estimated_memory_size(slots(), 4, 16, 3, [CPU()])
    assert size == continuous().pool_bytes == kvmlir.estimate_kv_cache_size(slots(), 4, 16, 3, 0, [CPU()])
    assert kvmlir.infer_optimal_batch_size(params(), 32, 3, 1 << 20, [CPU()]) == 512
    assert isinstance(kvmlir.load_kv_manager(params(), 4, 32, 3, VIRTUAL), NullKVCacheManager)
    manager = PagedKVCacheManager(KVCacheParams("float32", 2, 4), 4, 1000, 3, [CPU()], None, 1 << 20)
    request = TextGenerationContext(range(129))
    manager.claim(request.request_id)
    assert manager.alloc(request).new_pages == 2  # of 128 tokens
    assert manager.max_seq_len == 1000 and manager.devices == [CPU(0)]


def test_parameters():
    given = KVCacheParams("bf16", 8, 128)
    assert (given.page_size, given.n_devices, given.data_parallel_degree) == (128, 1, 1)
    assert given.enable_prefix_caching is False and given.cache_strategy is KVCacheStrategy.PAGED
    assert given.dtype is kvmlir.DType.bfloat16 and given.dtype_shorthand == "bf16"
    assert KVCacheParams("bf16", 8, 128, n_devices=4).n_kv_heads_per_device == 2
    assert isinstance(given, kvmlir.KVCacheParamInterface)
    assert MultiKVCacheParams([params(num_layers=3)], 2, 1, 1, None, None) == MultiKVCacheParams.from_params(
        params(num_layers=3))
    assert [(one.num_layers, one.n_kv_heads) for one in multi().params] == [(3, 2), (1, 2)]
    two, four = multi(devices=2), multi(devices=2, replicas=2)
    assert (two.page_size, two.n_devices, two.tensor_parallel_degree, two.data_parallel_degree) == (2, 2, 2, 1)
    assert (four.tensor_parallel_degree, four.data_parallel_degree) == (1, 2)
    assert two.bytes_per_block == 4 * 2 * 2 * 2 * 4 * 4  # layers, planes, tokens, heads, elements, bytes
    assert two.replicates_kv_across_tp is False
    latent = KVCacheParams("f32", 1, 6, 3, is_mla=True, v_head_dim=4, n_devices=2)
    assert latent.replicates_kv_across_tp is True and latent.shape_per_block == [1, 3, 128, 1, 6]
    assert (multi().kv_connector, multi().host_kvcache_swap_space_gb) == (None, None)
    assert multi(kv_connector="null").kv_connector is KVConnectorType.null
    for given in ({"kv_connector": "host"}, {"enable_kvcache_swapping_to_host": True}):
        made = multi(host_kvcache_swap_space_gb=2.5, **given)
        assert made.host_kvcache_swap_space_gb == 2.5 and made.kv_connector is KVConnectorType.host
    assert (multi().num_draft_tokens, multi().speculative_method) == (0, None)
    for method in ("eagle", "mtp", "dflash"):
        assert multi(speculative_method=method).speculative_method == method
    drafting = multi(speculative_method="eagle", num_draft_tokens=2)
    assert drafting.num_draft_tokens == 2 and drafting.num_draft_slots == 4


def test_parameters_that_differ_share_nothing():
    for field, other in (("page_size", 4), ("n_devices", 2), ("enable_prefix_caching", False),
                         ("num_draft_tokens", 1), ("speculative_method", "mtp")):
        more = {"num_layers": 3, **({"speculative_method": "eagle"} if field == "num_draft_tokens" else {})}
        with pytest.raises(ValueError, match=field):
            MultiKVCacheParams.from_params(params(**more), params(**{**more, field: other}))


# A call, and what it says.
REFUSED = [
    (lambda: PagedKVCacheManager(params(num_layers=5), 4, 32, 3, [CPU()], None, 1 << 20),
     "num_layers is 3, the parameters say 5, allowed: the same, or None in the parameters"),
    (lambda: PagedKVCacheManager(params(), 4, 32, 3, [CPU()], None, 1 << 20, page_size=64),
     "page_size is 64, the parameters say 2, allowed: the same, or the default in one of them"),
    (lambda: PagedKVCacheManager(params(), 4, 32, 3, [CPU()], 7, 1 << 20),
     "session is a int, allowed: InferenceSession or None"),
    (lambda: paged().fetch([1]), "element 0 of the batch is a int, allowed: TextGenerationContext"),
    (lambda: paged().get_replica(TextGenerationContext([1], "c")), 'request "c" is not claimed'),
    (lambda: ContinuousBatchingKVCacheManager(params(), 3, 16, 3, [CPU()], None),
     "cache_strategy is 'paged', allowed: 'continuous'"),
    (lambda: continuous().fetch([3]), "sequence 3 is not in the cache: alloc() gives it its context"),
    (lambda: continuous().fetch([4]), "sequence 4, allowed: ids from 0 to 3"),
    (lambda: kvmlir.ContinuousBatchingKVCache(3), "the value is a int, allowed: !kv.cache<continuous, ...>"),
    (lambda: kvmlir.FetchContinuousBatchingKVCacheCollection(params()),
     "cache_strategy is 'paged', allowed: 'continuous'"),
    (lambda: kvmlir.FetchContinuousBatchingKVCacheCollection(slots(num_layers=3))(*[graph()[1].kv_blocks] * 4),
     "cache_lengths is f32 of rank 6, allowed: i32 of rank 1"),
    (lambda: NullKVCacheManager(params(), 4, 32, 3, [CPU()], None, 0),
     "devices are cpu:0, allowed: virtual:TARGET, since a null manager has no memory"),
    (lambda: MultiKVCacheParams([params(num_layers=3)], 4, 1, 1, None, None),
     "page_size is 2 in one cache and 4 in another, allowed: the same in all"),
]


def refuses(call, error, sentence):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == sentence


@pytest.mark.parametrize("call,sentence", REFUSED)
def test_refusals(call, sentence):
    refuses(call, ValueError, sentence)


@pytest.mark.parametrize("wrong", [
    {"n_devices": 3}, {"data_parallel_degree": 2}, {"page_size": -1}, {"dtype": "f31"}, {"kv_connector": "tape"},
    {"speculative_method": "guess"}, {"num_draft_tokens": -1}, {"cache_strategy": "naive"},
    {"kv_connector": "host", "enable_prefix_caching": True},
    {"kv_connector": "host", "host_kvcache_swap_space_gb": 1}])
def test_refused_parameters(wrong):
    with pytest.raises(ValueError, match="host" if "kv_connector" in wrong and len(wrong) > 1 else None):
        KVCacheParams(**{"dtype": "bf16", "n_kv_heads": 8, "head_dim": 128, **wrong})


def test_classes_of_errors():
    with pytest.raises(RuntimeError):
        PagedKVCacheManager(KVCacheParams("float32", 2, 4), 4, 1000, 3, [CPU()], None, 1)
    with pytest.raises(TypeError, match="a manager has no field colour"):
        paged(colour=3)
    own = paged(0, 2, 2)
    own.claim(1, 0)
    own.claim(2, 0)
    with pytest.raises(MemoryError):
        own.claim(3, 0)
    with pytest.raises(ValueError):
        own.external_claim(3)  # which of two replicas?
    own = paged()
    with pytest.raises(kvmlir.InsufficientBlocksError) as refused:
        own.alloc(own.two, 28)
    assert refused.value.reason == "full" and isinstance(refused.value, RuntimeError)


def test_the_pages_modules():
    """MAX's names of modules, below kvmlir."""
    from kvmlir.continuous_batching_cache import ContinuousBatchingKVCacheManager
    from kvmlir.null_cache_manager import NullKVCacheManager
    from kvmlir.paged_cache.cache_manager import PagedKVCacheManager
    assert (ContinuousBatchingKVCacheManager, NullKVCacheManager, PagedKVCacheManager) == (
        kvmlir.ContinuousBatchingKVCacheManager, kvmlir.NullKVCacheManager, kvmlir.PagedKVCacheManager)


def test_the_pages_example():
    """As it stands there, but for devices and sessions."""
    kv_manager, ctx1, ctx2 = paged(0, 2, 2).manager, TextGenerationContext(range(5)), TextGenerationContext(range(9))

    kv_manager.external_claim(ctx1.request_id, replica_idx=0)
    kv_manager.external_claim(ctx2.request_id, replica_idx=1)

    # Allocate blocks for these requests
    kv_manager.maybe_reserve(ctx1, num_steps=10)
    kv_manager.maybe_reserve(ctx2, num_steps=10)

    # Get KVCache inputs to feed to graph
    kv_cache_inputs = kv_manager.fetch([ctx1, ctx2], num_steps=10)
    assert [one.cache_lengths.shape for one in kv_cache_inputs] == [(1,), (1,)]

    # Update requests with newly generated tokens
    ctx1.update(42)
    ctx2.update(42)

    # Commit newly written blocks to prefix cache
    kv_manager.step([ctx1, ctx2])

    # Release metadata and KV blocks for these requests
    kv_manager.release(ctx1.request_id)
    kv_manager.release(ctx2.request_id)
    assert kv_manager.num_free_blocks == 32 and ctx1.tokens.tolist() == [0, 1, 2, 3, 4, 42]


# ---- Graph values ---------------------------------------------------------------------------------------


def graph():
    given = slots(num_layers=3, page_size=16)
    [symbols] = given.get_symbolic_inputs()
    return given, symbols, kvmlir.FetchContinuousBatchingKVCacheCollection(given)(*symbols)


def test_graph_values():
    _, _, collection = graph()
    keys = collection.key_cache("%layer")
    assert str(kvmlir.ContinuousBatchingKVCacheType()) == "!kv.cache<continuous, ...>"
    assert str(kvmlir.ContinuousBatchingKVCacheCollectionType(slots(num_layers=3, page_size=16))) == (
        "!kv.collection<continuous, f32, layers = 3, heads = 2, dim = 4, max_seq = 16>")
    assert kvmlir.ContinuousBatchingKVCache(keys.value).value is keys.value
    assert kvmlir.ContinuousBatchingKVCacheCollection(collection.value).value.name == "%kv"
    with pytest.raises(ValueError):
        kvmlir.ContinuousBatchingKVCacheCollection(keys.value)


def test_the_compiler_takes_a_graph():
    _, symbols, collection = graph()
    keys, values = collection.key_cache("%layer"), collection.value_cache("%layer")
    graph_of = kvmlir.continuous_batching_cache
    taken = ", ".join(f"{graph_of.argument_name(one)}: {graph_of.mlir_type(one)}" for one in symbols)
    types = f"{keys.value.type}, {values.value.type}"
    text = "\n".join([f"func.func @f({taken}, %layer: index) -> ({types}) {{",
                      collection.value.operation, keys.value.operation, values.value.operation,
                      f"return {keys.value}, {values.value} : {types}", "}"])
    kv_opt = find("kv-opt")
    assert kv_opt, "kv-opt is not built"
    done = subprocess.run([kv_opt, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + text
    for span in GRAPH_VALUES.values():
        assert span.split(",")[0].rstrip("…") in done.stdout
