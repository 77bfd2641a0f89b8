"""docs/managers.md says where every name of the four pages is. What it says is true: each name is called
with the page's parameters (test/unit/manager/ManagerNamesTest.cpp), what a row names in C++ and in C is there, and
its scenarios call its C functions."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import ROOT, find

# What the pages document: classes, methods with their parameters and defaults, properties and fields.
PAGES = {
    "PagedKVCacheManager": """
        PagedKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session, available_cache_memory, zmq_endpoint_base=None, page_size=128, enable_runtime_checks=False)
        alloc(data, num_steps=1)
        claim(request_id, replica_idx=None)
        contains(request_id)
        estimated_memory_size(params, max_batch_size, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
        external_claim(request_id, replica_idx=None)
        fetch(batch, num_steps=1)
        free_blocks_pct
        get_data_parallel_splits(context_batch)
        get_or_recommend_replica(context)
        get_replica(context)
        get_req_blocks(request_id)
        get_runtime_inputs(batch, num_steps=1)
        get_symbolic_inputs(devices=None, num_layers=None)
        host_committed_block_pct
        increment_cache_lengths(kv_cache_inputs, prev_model_inputs)
        infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
        input_symbols(devices=None, num_layers=None)
        max_supported_sequence_length(params, num_layers, memory_available)
        maybe_reserve(data, num_steps=1)
        metrics
        num_free_blocks
        release(request_id)
        reset_metrics()
        reset_prefix_cache()
        step(batch)
        total_num_host_pages
        used_blocks_pct""",
    "ContinuousBatchingKVCacheManager": """
        ContinuousBatchingKVCache(value)
        ContinuousBatchingKVCacheCollection(value)
        ContinuousBatchingKVCacheCollectionType
        ContinuousBatchingKVCacheManager(params, max_cache_batch_size, max_seq_len, num_layers, devices, session)
        ContinuousBatchingKVCacheType
        FetchContinuousBatchingKVCacheCollection(kv_params)
        block_shape(n_sequences)
        estimated_memory_size(params, max_cache_batch_size, max_seq_len, num_layers, devices)
        fetch(seq_ids)
        increment_cache_lengths(kv_cache_inputs, prev_model_inputs)
        infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
        input_symbols()""",
    "NullKVCacheManager": """
        NullKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session, available_cache_memory, page_size=128)
        alloc(data, num_steps=1)
        claim(request_id, replica_idx=None)
        contains(request_id)
        estimated_memory_size(params, max_batch_size, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
        free_blocks_pct
        get_data_parallel_splits(batch)
        get_or_recommend_replica(context)
        get_replica(context)
        get_req_blocks(request_id)
        get_runtime_inputs(batch, num_steps=1)
        get_symbolic_inputs(devices=None, num_layers=None)
        host_committed_block_pct
        increment_cache_lengths(kv_cache_inputs, prev_model_inputs)
        infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
        metrics
        num_free_blocks
        release(request_id)
        reset_metrics()
        reset_prefix_cache()
        step(batch)
        total_num_host_pages
        used_blocks_pct""",
    "KVCacheParams": """
        KVCacheParams
        MultiKVCacheParams(params, page_size, data_parallel_degree, n_devices, kv_connector, host_kvcache_swap_space_gb, speculative_method=None, num_draft_tokens=0)
        bytes_per_block
        data_parallel_degree
        from_params(*params)
        get_symbolic_inputs(prefix='')
        host_kvcache_swap_space_gb
        kv_connector
        n_devices
        num_draft_tokens
        page_size
        params
        replicates_kv_across_tp
        speculative_method
        tensor_parallel_degree""",
}
# These are the compiler's: a module that has them, and that kv-opt accepts.
GRAPH_VALUES = {
    "ContinuousBatchingKVCache(value)": "!kv.cache<continuous, …>",
    "ContinuousBatchingKVCacheType": "!kv.cache<continuous, …>",
    "ContinuousBatchingKVCacheCollection(value)": "!kv.collection<continuous, …>",
    "ContinuousBatchingKVCacheCollectionType": "!kv.collection<continuous, …>",
    "FetchContinuousBatchingKVCacheCollection(kv_params)": "kv.fetch",
}
COLUMNS = ["name there", "here", "in C", "scenarios", "notes"]
SCENARIOS = ROOT / "test/conformance/scenarios"
# Of the C interface; they belong to no name.
WITHOUT_A_ROW = {"kvErrorMessage", "kvManagerDestroy", "kvRequestDestroy", "kvManagerGetInputDLPack"}


def documented(page):
    return [line.strip() for line in PAGES[page].split("\n") if line.strip()]


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def sections():
    """The rows of each section's table, as dictionaries by column."""
    found = {}
    for section in (ROOT / "docs/managers.md").read_text().split("\n## ")[1:]:
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")]
                 for line in section.splitlines() if line.startswith("| ")]
        if not lines or lines[0][0] != COLUMNS[0]:
            continue  # no section of names
        assert lines[0] == COLUMNS
        assert all(len(line) == len(COLUMNS) for line in lines)
        found[re.search(r"`(\w+)`", section)[1]] = [dict(zip(COLUMNS, line)) for line in lines[2:]]
    return found


ROWS = [(page, row) for page, rows in sections().items() for row in rows]


@pytest.mark.parametrize("page", PAGES)
def test_the_document_has_the_names_of_the_page(page):
    named = [name for row in sections()[page] for name in code(row["name there"])]
    assert sorted(named) == sorted(documented(page))


def test_every_section_is_of_a_page():
    assert list(sections()) == [*PAGES, "TextGenerationContext"]


# ---- Calls ----------------------------------------------------------------------------------------------


def called():
    """The signatures of ManagerNamesTest.cpp by page; "()" where a page has none."""
    text = (ROOT / "test/unit/manager/ManagerNamesTest.cpp").read_text()
    found = {}
    for page, name, strings in re.findall(r'^NAME\((\w+),\s*(\w+),((?:\s*"[^"]*")+)\)', text, re.M):
        parameters = "".join(re.findall(r'"([^"]*)"', strings))
        found.setdefault(page, []).append(f"{name}({parameters})")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_name_is_called_with_its_parameters(page):
    wanted = [name if name.endswith(")") else f"{name}()" for name in documented(page)
              if name not in GRAPH_VALUES]
    assert sorted(called()[page]) == sorted(wanted)


def test_the_calls_do_what_the_pages_say():
    program = find("KVManagerNamesTests")
    assert program, "KVManagerNamesTests is not built"
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True)
    assert len(re.findall(r"^  \w+", listed.stdout, re.M)) == sum(map(len, called().values()))


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
    page = (ROOT / "docs/c.md").read_text().split("\n## Functions\n")[1]
    others = {name for line in page.splitlines() if line.startswith("| `") for name in code(line.split(" | ")[0])}
    assert not others & named
    assert named | others | WITHOUT_A_ROW == exported
    headers = "\n".join(path.read_text() for path in (ROOT / "include/kv/Runtime/C").glob("*.h"))
    assert not [name for name in exported if not re.search(rf"\b{name}\(", headers)]
    text = (ROOT / "docs/managers.md").read_text()
    assert not [name for name in WITHOUT_A_ROW if f"`{name}`" not in text]


# ---- Scenarios ------------------------------------------------------------------------------------------


def calls_of(scenario):
    program = find("kv-conformance")
    assert program, "kv-conformance is not built"
    done = subprocess.run([program, "--calls", next(SCENARIOS.rglob(f"{scenario}.json"))], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r" calls (\w+)$", done.stdout, re.M))


@pytest.mark.parametrize("page,row", ROWS, ids=[f"{p}-{code(r['name there'] + r['here'])[0].split('(')[0]}"
                                                for p, r in ROWS])
def test_a_row_has_scenarios_that_call_it(page, row):
    if row["scenarios"].startswith("none: "):
        # Only what no manager does has none.
        assert row["in C"] == "–" and len(row["scenarios"]) > len("none: ")
        return
    scenarios = code(row["scenarios"])
    assert scenarios and code(row["in C"]), row
    calls = set().union(*map(calls_of, scenarios))
    assert set(code(row["in C"])) <= calls


# ---- Graph values ---------------------------------------------------------------------------------------


MODULE = """
!collection = !kv.collection<continuous, f32, layers = 3, heads = 2, dim = 4, max_seq = 16>
!cache = !kv.cache<continuous, f32, layers = 3, heads = 2, dim = 4, max_seq = 16>
func.func private @attend(!cache)
func.func @fetch(%blocks: memref<?x2x3x16x2x4xf32>, %lengths: tensor<?xi32>, %slots: tensor<?xi32>,
                 %most: tensor<?x2xi32>) -> !collection {
  %kv = kv.fetch %blocks, %lengths, %slots, %most
      : memref<?x2x3x16x2x4xf32>, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32> -> !collection
  return %kv : !collection
}
"""


def test_the_compiler_has_the_graph_values():
    rows = [row for _, row in ROWS if row["scenarios"].startswith("none: ")]
    assert {(name, span) for row in rows for name in code(row["name there"])
            for span in code(row["here"])} == set(GRAPH_VALUES.items())
    kv_opt = find("kv-opt")
    if not kv_opt:
        pytest.skip("kv-opt is not built")
    done = subprocess.run([kv_opt, "-"], input=MODULE, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for span in GRAPH_VALUES.values():
        assert span.split(",")[0].rstrip("…") in done.stdout
