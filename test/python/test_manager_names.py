"""docs/managers.md says where every name of the four pages is, and what it names is there."""

import re

import pytest

from tools import ROOT

# What the pages document: classes, methods, properties, fields.
PAGES = {
    "PagedKVCacheManager": """
        PagedKVCacheManager alloc claim contains estimated_memory_size external_claim fetch
        free_blocks_pct get_data_parallel_splits get_or_recommend_replica get_replica
        get_req_blocks get_runtime_inputs get_symbolic_inputs host_committed_block_pct
        increment_cache_lengths infer_optimal_batch_size input_symbols
        max_supported_sequence_length maybe_reserve metrics num_free_blocks release
        reset_metrics reset_prefix_cache step total_num_host_pages used_blocks_pct""",
    "ContinuousBatchingKVCacheManager": """
        ContinuousBatchingKVCache ContinuousBatchingKVCacheCollection
        ContinuousBatchingKVCacheCollectionType ContinuousBatchingKVCacheManager
        ContinuousBatchingKVCacheType FetchContinuousBatchingKVCacheCollection block_shape
        estimated_memory_size fetch increment_cache_lengths input_symbols""",
    "NullKVCacheManager": """
        NullKVCacheManager alloc claim contains estimated_memory_size free_blocks_pct
        get_data_parallel_splits get_or_recommend_replica get_replica get_req_blocks
        get_runtime_inputs get_symbolic_inputs host_committed_block_pct
        increment_cache_lengths infer_optimal_batch_size metrics num_free_blocks release
        reset_metrics reset_prefix_cache step total_num_host_pages used_blocks_pct""",
    "KVCacheParams": """
        KVCacheParams MultiKVCacheParams bytes_per_block data_parallel_degree from_params
        get_symbolic_inputs host_kvcache_swap_space_gb kv_connector n_devices num_draft_tokens
        page_size params replicates_kv_across_tp speculative_method tensor_parallel_degree""",
}


def sections():
    """The rows of each section's table: (name there, here)."""
    text = (ROOT / "docs/managers.md").read_text()
    found = {}
    for section in text.split("\n## ")[1:]:
        name = re.search(r"`(\w+)`", section)[1]
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in section.splitlines() if line.startswith("| ")]
        found[name] = [(row[0], row[1]) for row in rows[1:] if not row[0].startswith("---")]
    return found


def words(cell):
    """Names in code; `Cache(Type)` is both Cache and CacheType."""
    names = set()
    for code in re.findall(r"`([^`]+)`", cell):
        if match := re.fullmatch(r"(\w+)\((Type)\)", code):
            names |= {match[1], match[1] + match[2]}
        else:
            names |= set(re.findall(r"\w+", code))
    return names


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_the_page_has_a_row(page):
    named = set().union(*(words(there) for there, _ in sections()[page]))
    missing = [name for name in PAGES[page].split() if name not in named]
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_what_a_row_names_exists(page):
    headers = "\n".join(path.read_text() for path in
                        [*(ROOT / "include/kv/Runtime").glob("*.h"),
                         *(ROOT / "include/kv/Dialect").rglob("*.td")])
    for there, here in sections()[page]:
        for name in re.findall(r"`(?:\w+::)?(\w+)\(", here):
            assert re.search(rf"\b{name}\(", headers), f"{there}: {name}() is in no header"
