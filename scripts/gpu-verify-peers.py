#!/usr/bin/env python3
"""Times PyTorch's attentions on the shapes that gpu-verify timed.

gpu-verify-peers.py --ours kernels.json --json peers.json. Needs PyTorch with
CUDA; each backend that is missing or refuses a shape is named under "left".
SDPA reads contiguous keys and values, an upper bound for it; FlexAttention and
cuDNN (its Python front end, where that is installed) read pages.
"""

import argparse
import json
import re
import statistics
import sys

HEADS, GROUP, DIM, PAGE = 8, 4, 128, 16
CASE = re.compile(r"(decode|prefill) bf16 (\d+)x(\d+)\+(\d+) 32/8 d128 page 16")


def cases(rows):
    """(name, our microseconds, sequences, keys, rows) of the bf16 timings."""
    for row in rows:
        match = CASE.fullmatch(row["case"])
        # What has a baseline is the time of a peer that was named.
        if match and row["metric"] == "time" and not row["baseline"]:
            sequences, cached, added = map(int, match.groups()[1:])
            # Masks at the lower right corner are not the same everywhere.
            if added == 1 or cached == 0:
                yield row["case"], row["value"], sequences, cached + added, added


def seconds(torch, flush, work):
    """The median of 20, the L2 cache overwritten before each. The GPU is kept busy for a
    millisecond first: what Python does to launch a kernel is not its time."""
    times = []
    for i in range(23):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.fill_(i)
        torch.cuda._sleep(2_000_000)  # cycles
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1000)
    return statistics.median(times[3:])


def sdpa(torch, backend, sequences, length, added):
    from torch.nn import functional
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def draw(heads, rows):
        return torch.randn(
            sequences, heads, rows, DIM, device="cuda", dtype=torch.bfloat16
        )

    q, k, v = draw(HEADS * GROUP, added), draw(HEADS, length), draw(HEADS, length)

    def work():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            functional.scaled_dot_product_attention(
                q, k, v, is_causal=added > 1, enable_gqa=True
            )

    return work


def flex(torch, sequences, length, added):
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
    pool = (1, HEADS, pages * PAGE, DIM)
    k, v = (torch.randn(pool, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    q = torch.randn(
        sequences, HEADS * GROUP, added, DIM, device="cuda", dtype=torch.bfloat16
    )
    attention = torch.compile(fa.flex_attention)
    return lambda: attention(
        q, k, v, score_mod=paged.get_score_mod(None), block_mask=physical,
        enable_gqa=True,
    )


def cudnn_paged(torch, sequences, length, added):
    import cudnn

    columns = (length + PAGE - 1) // PAGE
    pages = sequences * columns
    draw = lambda *shape: torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    whole = lambda value: torch.full(
        (sequences, 1, 1, 1), value, device="cuda", dtype=torch.int32
    )
    q, out = (draw(sequences, HEADS * GROUP, added, DIM) for _ in range(2))
    k, v = (draw(pages, HEADS, PAGE, DIM) for _ in range(2))
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


def measure(torch, ours):
    flush = torch.empty(256 << 20, device="cuda", dtype=torch.uint8)
    peers = {
        f"SDPA {backend}": lambda *case, backend=backend: sdpa(torch, backend, *case)
        for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION")
    }
    peers["cuDNN paged"] = lambda *case: cudnn_paged(torch, *case)
    peers["FlexAttention paged"] = lambda *case: flex(torch, *case)
    rows, left = [], []
    for name, microseconds, *case in cases(ours):
        for peer, make in peers.items():
            try:
                time = seconds(torch, flush, make(*case)) * 1e6
            except Exception as error:  # whatever a backend throws
                left.append(f"{peer}, {name}: {str(error).splitlines()[:1]}")
                continue
            rows.append(
                {
                    "case": name,
                    "metric": "time",
                    "value": time,
                    "unit": "us",
                    "baseline": f"{peer}'s speed",
                    "ratio": time / microseconds,
                }
            )
            print(f"{name:48} {peer:24} {time:10.1f} us, ours {time / microseconds:.2f} x")
            sys.stdout.flush()
    return {"torch": torch.__version__, "rows": rows, "left": left}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", required=True, help="what gpu-verify wrote")
    parser.add_argument("--json", required=True, help="file to write")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("gpu-verify-peers: PyTorch is not here")
    if not torch.cuda.is_available():
        sys.exit("gpu-verify-peers: this PyTorch has no CUDA device")
    with open(options.ours, encoding="utf-8") as file:
        ours = json.load(file)["rows"]
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(measure(torch, ours), file, indent=1)


if __name__ == "__main__":
    main()
