"""study.py PICTURE.svg [TRACE]: the hit rate of the prefix cache by its capacity, and a picture of it.

TRACE has one request per line in Mooncake's format: `hash_ids` names each block of 512 prompt tokens. Without it,
conversations are made up: each turn repeats the turns before it, and all begin with one of four system prompts."""

import json
import random
import sys

import kvmlir
import numpy as np

PAGE, BLOCK = 128, 512


def conversations(count=500, seed=7):
    """Prompts as lists of block ids, in the order of their arrival."""
    draw, fresh, arrivals = random.Random(seed), iter(range(10, 10**6)), []
    for _ in range(count):
        prompt, time = [draw.randrange(4)] * 2, draw.random() * 100
        for _ in range(1 + int(draw.random() * 6)):
            prompt = prompt + [next(fresh) for _ in range(1 + int(draw.random() * 3))]
            arrivals.append((time, prompt))
            time += draw.random() * 10
    return [prompt for _, prompt in sorted(arrivals)]


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["hash_ids"] for line in file if line.strip()]


def tokens(prompt):
    """Equal blocks have equal tokens."""
    return (np.repeat(prompt, BLOCK) * 7919 + np.tile(np.arange(BLOCK), len(prompt))).astype(np.int32) & 0x7FFFFFFF


def replay(trace, pages):
    """The hit rate: cached tokens of all prompt tokens. Nothing is computed; the manager only keeps its books."""
    params = kvmlir.KVCacheParams(dtype="float8_e4m3fn", n_kv_heads=1, head_dim=8, page_size=PAGE, num_layers=1,
                                  enable_prefix_caching=True)
    manager = kvmlir.PagedKVCacheManager(params, 1, pages * PAGE, None, ["cpu:0"], None, 0, page_size=PAGE,
                                         num_pages=pages)
    for prompt in trace:
        context = kvmlir.TextGenerationContext(tokens(prompt))
        manager.claim(context.request_id)
        manager.alloc(context)
        context.advance()
        manager.step([context])
        manager.release(context.request_id)
    return manager.metrics.cache_hit_rate


def draw(path, points):
    """A line over a logarithmic axis, as SVG."""
    low, high = np.log2(points[0][0]), np.log2(points[-1][0])
    places = [(60 + 480 * (np.log2(pages) - low) / (high - low), 260 - 240 * rate) for pages, rate in points]
    parts = [f'<line x1="60" x2="540" y1="{y}" y2="{y}" stroke="#ccc"/><text x="52" y="{y + 4}" text-anchor="end">'
             f'{(260 - y) / 2.4:.0f} %</text>' for y in range(20, 261, 60)]
    parts += [f'<text x="{x:.0f}" y="280" text-anchor="middle">{pages}</text>' for (x, _), (pages, _) in zip(places, points)]
    parts += [f'<polyline fill="none" stroke="#06c" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>']
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#06c"/>' for x, y in places]
    parts += [f'<text x="300" y="305" text-anchor="middle">pages of {PAGE} tokens</text>']
    with open(path, "w", encoding="utf-8") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 320" font-family="sans-serif" '
                   'font-size="12"><rect width="600" height="320" fill="white"/>' + "\n".join(parts) + "</svg>\n")


if __name__ == "__main__":
    trace = read(sys.argv[2]) if len(sys.argv) > 2 else conversations()
    longest = -(-max(len(prompt) for prompt in trace) * BLOCK // PAGE)
    sizes = [2**power for power in range(longest.bit_length(), longest.bit_length() + 7)]
    results = [(pages, replay(trace, pages)) for pages in sizes]
    for pages, rate in results:
        print(f"{pages:6} pages: {rate:5.1%} of the prompts' tokens were cached")
    draw(sys.argv[1], results)
