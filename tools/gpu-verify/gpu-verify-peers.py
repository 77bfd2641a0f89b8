#!/usr/bin/env python3
"""Times PyTorch's attentions on some of the shapes that gpu-verify timed.

gpu-verify-peers.py --rows rows.jsonl [--list] [--peer NAME]...: a row is "PEER: CASE". Rows that are
asked for on standard input are answered on standard output, as bin/gpu-verify does it. Needs PyTorch
with CUDA. Without --peer these are SDPA's FLASH_ATTENTION and CUDNN_ATTENTION, which read contiguous
keys and values, an upper bound for what reads pages. --peer adds another one: "SDPA
EFFICIENT_ATTENTION"; "FlexAttention paged", which compiles a kernel for each shape; "cuDNN paged",
where its Python front end is installed.
"""

import argparse
import importlib.util
import json
import re
import statistics
import sys

DIM, PAGE = 128, 16
# The shapes that are timed; where none of them was, the first ones that were.
SHAPES = ("bf16 64x8191+1 32/8 d128 page 16", "bf16 1x32767+1 32/8 d128 page 16",
          "bf16 16x4095+1 32/8 d128 page 16", "bf16 1x0+8192 64/8 d128 page 16")
# Seconds until PyTorch is there; of a row, and of one that is compiled first.
IMPORT, ROW, COMPILED_ROW = 15, 1, 40
CASE = re.compile(r"attention (bf16 (\d+)x(\d+)\+(\d+) (\d+)/(\d+) d128 page 16)")


def cases(records):
    """{case: (sequences, keys, rows, KV heads, group)} of the bf16 steps that were timed."""
    found = {}
    for record in records:
        match = CASE.fullmatch(record.get("row", ""))
        if not match or record["suite"] != "timing" or not record["measurements"]:
            continue
        sequences, cached, added, queries, heads = map(int, match.groups()[1:])
        # Masks at the lower right corner are not the same everywhere.
        if added == 1 or cached == 0:
            found[match.group(1)] = (sequences, cached + added, added, heads, queries // heads)
    chosen = [case for case in SHAPES if case in found] or list(found)[:len(SHAPES)]
    return {case: found[case] for case in chosen}


def seconds(torch, flush, work):
    """The median of 20, something else in the L2 cache before each. The GPU is kept busy for a
    millisecond first: what Python does to launch a kernel is not its time."""
    times, out = [], torch.empty((), device="cuda", dtype=flush.dtype)
    for i in range(23):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.amax(flush, dim=0, out=out)  # read: what is written must be written back
        torch.cuda._sleep(2_000_000)  # cycles
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1000)
    return statistics.median(times[3:])


def sdpa(torch, backend, sequences, length, added, kv_heads, group):
    from torch.nn import functional
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def draw(heads, rows):
        return torch.randn(
            sequences, heads, rows, DIM, device="cuda", dtype=torch.bfloat16
        )

    q = draw(kv_heads * group, added)
    k, v = draw(kv_heads, length), draw(kv_heads, length)

    def work():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            functional.scaled_dot_product_attention(
                q, k, v, is_causal=added > 1, enable_gqa=True
            )

    return work


def flex(torch, sequences, length, added, kv_heads, group):
    from torch.nn.attention import flex_attention as fa
    from torch.nn.attention.experimental._paged_attention import PagedAttention

    pages = sequences * ((length + PAGE - 1) // PAGE) + 1
    paged = PagedAttention(pages, PAGE, sequences)
    for b in range(sequences):
        paged.reserve(
            torch.tensor(b, device="cuda"), torch.tensor(length, device="cuda")
        )
    first = length - added

    def causal(b, h, query, key):
        return query + first >= key

    mask = fa.create_block_mask(
        causal, sequences, 1, added, length, BLOCK_SIZE=(128, PAGE)
    )
    physical = paged.convert_logical_block_mask(mask)
    pool = (1, kv_heads, pages * PAGE, DIM)
    k, v = (torch.randn(pool, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    q = torch.randn(
        sequences, kv_heads * group, added, DIM, device="cuda", dtype=torch.bfloat16
    )
    attention = torch.compile(fa.flex_attention)
    return lambda: attention(
        q, k, v, score_mod=paged.get_score_mod(None), block_mask=physical,
        enable_gqa=True,
    )


def cudnn_paged(torch, sequences, length, added, kv_heads, group):
    import cudnn

    columns = (length + PAGE - 1) // PAGE
    pages = sequences * columns
    draw = lambda *shape: torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    whole = lambda value: torch.full(
        (sequences, 1, 1, 1), value, device="cuda", dtype=torch.int32
    )
    q, out = (draw(sequences, kv_heads * group, added, DIM) for _ in range(2))
    k, v = (draw(pages, kv_heads, PAGE, DIM) for _ in range(2))
    table = torch.randperm(pages, device="cuda").to(torch.int32)
    table = table.reshape(sequences, 1, columns, 1)
    rows, keys = whole(added), whole(length)
    graph = cudnn.pygraph(
        io_data_type=cudnn.data_type.BFLOAT16,
        intermediate_data_type=cudnn.data_type.FLOAT,
        compute_data_type=cudnn.data_type.FLOAT,
    )
    given = {graph.tensor_like(x): x for x in (q, k, v, table, rows, keys)}
    names = list(given)
    result, _ = graph.sdpa(
        name="sdpa",
        q=names[0],
        k=names[1],
        v=names[2],
        is_inference=True,
        attn_scale=DIM**-0.5,
        causal_mask=added > 1,
        use_padding_mask=True,
        seq_len_q=names[4],
        seq_len_kv=names[5],
        paged_attention_k_table=names[3],
        paged_attention_v_table=names[3],
        paged_attention_max_seq_len_kv=length,
    )
    result.set_output(True).set_dim(list(out.shape)).set_stride(list(out.stride()))
    graph.build([cudnn.heur_mode.A])
    given[result] = out
    workspace = torch.empty(
        graph.get_workspace_size(), device="cuda", dtype=torch.uint8
    )
    return lambda: graph.execute(given, workspace)


SDPA = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION")
DEFAULT = ("SDPA FLASH_ATTENTION", "SDPA CUDNN_ATTENTION")


def peers():
    """{name: make(torch, *case)}"""
    made = {f"SDPA {backend}": lambda torch, *case, backend=backend: sdpa(torch, backend, *case)
            for backend in SDPA}
    made["cuDNN paged"] = cudnn_paged
    made["FlexAttention paged"] = flex
    return made


def rows(names, known):
    """[(row, seconds)] of these peers; the first one waits for PyTorch."""
    found = [(f"{peer}: {case}", COMPILED_ROW if peer.startswith("Flex") else ROW)
             for peer in names for case in known]
    return [(row, seconds + IMPORT * (row == found[0][0])) for row, seconds in found]


def answer(passed, message, microseconds=None):
    measurements = [] if microseconds is None else [
        {"metric": "time", "unit": "us", "value": microseconds, "baseline": "", "aim": None}]
    return {"passed": passed, "message": message, "measurements": measurements}


def serve(torch, known, lines):
    flush = torch.zeros(64 << 20, device="cuda", dtype=torch.int32)
    yield {"ready": True}
    for line in lines:
        peer, _, case = line.strip().partition(": ")
        try:
            time = seconds(torch, flush, peers()[peer](torch, *known[case]))
            yield answer(True, "", time * 1e6)
        except Exception as error:  # whatever a backend throws; it is not our failure
            yield answer(True, f"left out: {str(error).splitlines()[:1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", required=True, help="what gpu-verify wrote")
    parser.add_argument("--list", action="store_true", help="name the rows, and end")
    parser.add_argument("--peer", action="append", default=[], choices=sorted(peers()),
                        help="also this one")
    options = parser.parse_args()
    with open(options.rows, encoding="utf-8") as file:
        known = cases(json.loads(line) for line in file)
    if importlib.util.find_spec("torch") is None:
        sys.exit("gpu-verify-peers: PyTorch is not here")
    if options.list:
        for row, seconds_of_row in rows([*DEFAULT, *options.peer], known):
            print("@", json.dumps({"row": row, "seconds": seconds_of_row}))
        return
    import torch
    if not torch.cuda.is_available():
        sys.exit("gpu-verify-peers: this PyTorch has no CUDA device")
    for said in serve(torch, known, sys.stdin):
        print("@", json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
