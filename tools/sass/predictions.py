#!/usr/bin/env python3
"""predictions.py IMAGES: predicts the steps that gpu-verify times, from the machine code in the
folder IMAGES, and writes what it finds to tools/gpu-verify/gpu_verify/predictions.json, which the site shows
(docs/measurements/cuda.md). The models are those of steps.py; nothing is measured.
"""

import argparse
import json
import sys
from pathlib import Path

import steps
from check import shape_of
from cycles import Machine, predict
from listing import Listing, Problem

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tools/gpu-verify/gpu_verify/predictions.json"

# Sequences, keys, query heads of a KV head, of eight; with an aim's words.
DECODES = ((64, 8192, 4, "aim ≥ 0.95"), (64, 8192, 8, ""), (16, 4096, 4, ""), (16, 4096, 8, ""),
           (1, 131072, 4, ""), (1, 32768, 4, "aim ≥ 0.77"), (1, 32768, 8, "aim ≥ 0.77"), (1, 8192, 4, ""),
           (1, 8192, 8, ""), (1, 1024, 4, "aim ≤ 9 µs"))
DECODES_OF_8_BITS = ((64, 8192, 4, ""), (64, 8192, 8, ""), (16, 4096, 4, ""))
DRAFTS = (16, 4096, 5, 4)  # sequences, keys with the first of so many new tokens, query heads of a KV head
LATENT = ((64, 8192, 64), (1, 32768, 16), (1, 8192, 16))  # sequences, keys, page
PROMPTS = (("bf16", 128, 4096), ("bf16", 128, 8192), ("bf16", 128, 16384), ("bf16", 64, 8192),
           ("bf16", 192, 8192), ("bf16", 256, 8192), ("f8", 64, 8192), ("f8", 128, 8192),
           ("f8", 192, 8192), ("f8", 256, 8192), ("f8s", 128, 8192), ("f8g", 128, 8192),
           ("f8p", 64, 8192), ("f8p", 128, 4096), ("f8p", 128, 8192), ("f8p", 128, 16384))
# By the kernels that copy tiles, of at most 64 rows a sequence: keys that are cached, new tokens, query
# heads of a KV head; the kernel, and its blocks on an SM. Products of 8 bits have no other kernel for
# decoding.
FEW = (("bf16", 8128, 16, 4, "tiles", 1), ("f8", 8128, 16, 4, "draft_tiles", 2),
       ("f8p", 8191, 1, 8, "tiles", 1))
# Sequences, keys that are cached, new tokens; of a chunk, rows see half of it on average.
LATENT_TILES = ((64, 4095, 1), (128, 4095, 1), (64, 32767, 1), (1, 8192, 1024))
LATENT_HEADS = 128
# What a visit times before all others: a decode and a prompt of each kind of kernel.
FIRST = ("bf16 64x8191+1 32/8 d128 page 16", "bf16 1x32767+1 32/8 d128 page 16",
         "bf16 16x4095+1 32/8 d128 page 16", "bf16 1x0+8192 64/8 d128 page 16",
         "f8 64x8191+1 32/8 d128 page 16", "f8 1x0+8192 64/8 d128 page 16",
         "f8p 64x8191+1 64/8 d128 page 16", "f8p 1x0+8192 64/8 d128 page 16",
         "bf16 64x8128+16 32/8 d128 page 16", "bf16 1x1023+1 32/8 d128 page 16",
         "bf16 64x8191+1 16/1 d576/512 page 64", "bf16 128x4095+1 128/1 d576/512 page 64")


class Images:
    def __init__(self, folder, machine):
        self.folder, self.machine, self.models = folder, machine, {}

    def path(self, kernel):
        path = self.folder / f"{kernel}.sm_90a.cubin"
        if not path.exists():
            raise Problem(f"{path} is not there")
        return path

    def decode(self, kernel, blocks, apart=None):
        """steps.py's model of a decode kernel."""
        if kernel not in self.models:
            self.models[kernel] = steps.Model(self.path(kernel), blocks, self.machine,
                                              self.path(apart) if apart else None)
        return self.models[kernel]

    def leaf(self, kernel, blocks=1, few=False):
        """(shape, cycles of a leaf of each block) of a kernel that copies tiles. `few`: its second
        warpgroup has no rows."""
        if (kernel, few) not in self.models:
            listing = Listing(self.path(kernel))
            self.models[kernel, few] = (
                shape_of(kernel), predict(listing, kernel, self.machine, blocks, few=few).cycles)
        return self.models[kernel, few]


def row(case, kernel, time, beside):
    return {"case": case, "kernel": kernel, "us": float(f"{time.total:.3g}"), "beside": beside,
            "first": case in FIRST,
            "parts": {name: float(f"{value:.4g}") for name, value in time._asdict().items()}}


def whole(time):
    """Of one that no part of is reading memory."""
    return steps.Time(leaves=time - steps.LAUNCH)


def of_reading(time):
    return f"{time.read / time.total:.2f} of the read ceiling"


def decodes(images):
    for kind, cases in (("bf16", DECODES), ("f8", DECODES_OF_8_BITS)):
        kernel = f"kv_attention_decode_{kind}_128"
        for sequences, keys, group, aim in cases:
            time = images.decode(kernel, 2).time(sequences, keys, 8, group)
            beside = of_reading(time) + (f", {aim}" if aim else "")
            yield row(f"{kind} {sequences}x{keys - 1}+1 {8 * group}/8 d128 page 16", kernel, time,
                      beside)
    kernel = "kv_attention_drafts_f8_128"
    sequences, keys, added, group = DRAFTS
    time = images.decode(kernel, 3).time(sequences, keys + added - 1, 8, added * group)
    yield row(f"f8 {sequences}x{keys - 1}+{added} {8 * group}/8 d128 page 16", kernel, time,
              of_reading(time))
    kernel = "kv_latent_decode_bf16_576"
    for sequences, keys, page in LATENT:
        time = images.decode(kernel, 1, "kv_movers").time(sequences, keys, 1, 16)
        yield row(f"bf16 {sequences}x{keys - 1}+1 16/1 d576/512 page {page}", kernel, time,
                  of_reading(time))


def few(images):
    sequences, keys, heads = steps.FEW
    for kind, cached, added, group, tiles, blocks in FEW:
        kernel = f"kv_attention_{tiles}_{kind}_128"
        shape, cycles = images.leaf(kernel, blocks, few=blocks == 1)
        time = steps.few_time(cycles, shape, images.machine, blocks)
        assert 0 <= keys - cached - added < shape.keys and added * group <= steps.FEW_ROWS
        yield row(f"{kind} {sequences}x{cached}+{added} {group * heads}/{heads} d128 page 16", kernel,
                  time, of_reading(time))


def prompts(images):
    bf16 = {}  # by dimension and tokens
    for kind, dim, tokens in PROMPTS:
        kernel = f"kv_attention_tiles_{kind}_{dim}"
        shape, cycles = images.leaf(kernel)
        time = max(steps.predict_prompt(cycles, shape, images.machine, 64, 8, tokens))
        rate = 2 * tokens * tokens * dim * 64 / time / 1e6
        beside = f"{rate:.0f} TFLOP/s"
        if dim == 128 and kind == "bf16":
            cudnn = steps.CUDNN[tokens]
            beside += f", {rate / cudnn:.2f} of cuDNN's {cudnn}, aim ≥ 0.85"
        if kind == "bf16":
            bf16[dim, tokens] = rate
        elif kind == "f8p":
            beside += f", {rate / bf16[dim, tokens]:.2f} of bf16's, aim ≥ 1.5"
        yield row(f"{kind} 1x0+{tokens} 64/8 d{dim} page 16", kernel,
                  whole(time), beside)
    kernel = "kv_latent_pairs_bf16_576"
    shape, cycles = images.leaf(kernel)
    for sequences, cached, added in LATENT_TILES:
        rows, keys = added * LATENT_HEADS, cached + (added + 1) // 2
        time = max(steps.predict_latent(cycles, shape, images.machine, sequences, keys, rows))
        rate = 2 * sequences * keys * rows * (576 + shape.value) / time / 1e6
        yield row(f"bf16 {sequences}x{cached}+{added} {LATENT_HEADS}/1 d576/512 page 64", kernel,
                  whole(time), f"{rate:.0f} TFLOP/s, {rate / steps.FLASH_MLA:.2f} of FlashMLA's "
                               f"{steps.FLASH_MLA}")


def written(machine, rows):
    """The file: a line a row."""
    head = json.dumps({"sms": machine.sms, "gigahertz": machine.gigahertz,
                       "terabytes": machine.terabytes})
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in rows)
    return f'{{"machine": {head}, "rows": [\n{lines}\n]}}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("images", type=Path)
    images = Images(parser.parse_args().images, Machine())
    rows = [*decodes(images), *few(images), *prompts(images)]
    FILE.write_text(written(images.machine, rows), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"predictions.py: {problem}")
