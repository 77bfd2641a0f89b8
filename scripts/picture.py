#!/usr/bin/env python3
"""picture.py --kv-opt PATH [--check]: draws docs/explanation/data-way.svg, the way of the data.

Every name in the picture is read from the code: passes from the pipelines as kv-opt dumps them,
components from CacheGeometry.h, managers from their headers, tools from their folders, what generated
code may call from Symbols.def. A name that is gone is an error; with --check, a picture that differs
from the committed one is, too."""

import argparse
import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/explanation/data-way.svg"
WIDTH, LINE, HEAD, PAD = 1180, 15, 20, 9


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def found(pattern, path, least=1):
    names = re.findall(pattern, text(path), flags=re.M)
    if len(names) < least:
        sys.exit(f"picture.py: {path} has {len(names)} of {pattern!r}, the picture needs {least}")
    return list(dict.fromkeys(names))


def exists(path):
    if not (ROOT / path).exists():
        sys.exit(f"picture.py: {path} is gone, but the picture shows it")
    return Path(path).name


def passes(kv_opt, pipeline):
    """The names of our passes in their order, upstream's bufferization and last conversion with them."""
    run = subprocess.run([kv_opt, f"--{pipeline}", "--dump-pass-pipeline", "-"], input="module {}",
                         capture_output=True, text=True, check=True)
    names = re.findall(r"[\w-]+(?=\{|,|\)|$)", re.sub(r"\{[^{}]*\}", "", run.stderr), flags=re.M)
    kept = [n for n in names if n.startswith(("kv-", "convert-kv-")) or
            n in ("one-shot-bufferize", "convert-to-llvm")]
    if len(kept) < 5:
        sys.exit(f"picture.py: {kv_opt} --{pipeline} dumps no pipeline:\n{run.stderr}")
    return list(dict.fromkeys(kept))


def managers():
    folder = "include/kv/Runtime/Manager"
    exists(f"{folder}/KVCacheManager.h")
    return [name for header in sorted((ROOT / folder).glob("*.h"))
            for name in re.findall(r"^class (\w+KVCacheManager) : public", header.read_text(), flags=re.M)
            if not name.startswith("Replicated")]


class Picture:
    def __init__(self):
        self.parts, self.height = [], 0

    def box(self, x, y, width, head, lines, kind):
        height = HEAD + PAD + LINE * len(lines) + (PAD if lines else 0)
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>')
        self.parts.append(f'<text x="{x + PAD}" y="{y + HEAD}" class="head">{escape(head)}</text>')
        for i, line in enumerate(lines):
            self.parts.append(f'<text x="{x + PAD}" y="{y + HEAD + PAD + LINE * (i + 1) - 3}" '
                              f'class="line">{escape(line)}</text>')
        self.height = max(self.height, y + height + 16)
        return (x, y, width, height)

    def arrow(self, points, label="", at=None):
        path = " L".join(f"{x} {y}" for x, y in points)
        self.parts.append(f'<path d="M{path}" class="arrow" marker-end="url(#tip)"/>')
        if label:
            x, y = at
            self.parts.append(f'<text x="{x}" y="{y}" class="label">{escape(label)}</text>')

    def title(self, x, y, words):
        self.parts.append(f'<text x="{x}" y="{y}" class="title">{escape(words)}</text>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                f'font-family="Helvetica, Arial, sans-serif">\n'
                '<style>\n'
                'rect { stroke: #5b6b7b; stroke-width: 1 }\n'
                '.page { fill: #ffffff; stroke: none }\n'
                '.file { fill: #eef3f8 } .tool { fill: #fdf3dc } .runtime { fill: #e6f4e6 }\n'
                '.head { font-size: 13px; font-weight: bold; fill: #1d2733 }\n'
                '.line { font-size: 11px; fill: #33404d; font-family: Menlo, Consolas, monospace }\n'
                '.label { font-size: 11px; fill: #33404d }\n'
                '.title { font-size: 14px; font-weight: bold; fill: #5b6b7b }\n'
                '.arrow { fill: none; stroke: #33404d; stroke-width: 1.4 }\n'
                '</style>\n'
                '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
                '<path d="M0 0 L9 4 L0 8 z" fill="#33404d"/></marker></defs>\n'
                f'<rect x="0" y="0" width="{WIDTH}" height="{self.height}" class="page"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def right(box, down=28):
    return (box[0] + box[2], box[1] + down)


def left(box, down=28):
    return (box[0], box[1] + down)


def draw(kv_opt):
    geometry = "include/kv/ABI/CacheGeometry.h"
    components = found(r'\{"(\w+)", KV_DTYPE', geometry, 3)
    blocks = found(r'block\("(\w+)"', geometry, 2)
    components = blocks[:1] + components + [f"{name}, of 8-bit caches" for name in blocks[1:]]
    calls = found(r"^KV_FUNCTION\((\w+)", "include/kv/ABI/Symbols.def", 10)
    shown = ("parallelFor", "store", "attention", "matmul")
    if lost := set(shown) - set(calls):
        sys.exit(f"picture.py: Symbols.def has no {', '.join(lost)}, but the picture shows it")
    manifest = found(r'"(\.kv\.manifest)"', "lib/Compiler/Compiler.cpp")[0]
    kernels = found(r'KV_KERNEL_IMAGES_SECTION "([.\w]+)"', "include/kv/ABI/KernelImages.h")[0]
    entry = found(r'"(kv_entry_)"', "passes/entries/FormEntries.cpp")[0]
    cpu, cuda = passes(kv_opt, "kv-cpu"), passes(kv_opt, "kv-cuda")

    p = Picture()
    p.title(20, 26, "Once: compile")
    model = p.box(20, 40, 150, "a model", ["GGUF file", "Hugging Face folder"], "file")
    importer = p.box(20, 150, 150, exists("tools/kv-import"), ["or your own front end"], "tool")
    module = p.box(210, 40, 190, "a module",
                   ["model.mlir", "weights.safetensors", "tokenizer.json"], "file")
    host = p.box(440, 40, 230, f"{exists('tools/kv-compile')}: kv-cpu", cpu, "tool")
    device = p.box(690, 40, 230, f"{exists('tools/kv-compile')}: kv-cuda", cuda, "tool")
    artifact = p.box(960, 40, 200, "the artifact, model.so",
                     [f"{entry}<name>", f"{manifest}  geometry", f"{kernels}  device code"], "file")
    below = max(b[1] + b[3] for b in (host, device))

    top = below + 56
    p.title(20, top - 14, f"Each step: run ({exists('tools/kv-run')}, or libkv_runtime)")
    requests = p.box(20, top, 150, "requests", ["tokens, sampling"], "file")
    exists("include/kv/Runtime/Serving/Scheduler.h")
    scheduler = p.box(210, top, 190, "Scheduler", ["which rows, how many"], "runtime")
    exists("include/kv/Runtime/Engine/CacheEngine.h")
    manager = p.box(440, top, 230, "cache manager",
                    managers() + ["", "CacheEngine: pages,", "prefixes, eviction"], "runtime")
    inputs = p.box(710, top, 190, "runtime inputs", components + ["", "of every collection"], "file")
    exists("include/kv/Runtime/Session/InferenceSession.h")
    session = p.box(960, top, 200, "InferenceSession",
                    [f"execute {entry}<name>", "", f"calls {len(calls)} functions of the", "runtime or the device:",
                     *shown, "…"], "runtime")
    exists("include/kv/Runtime/Serving/Sampler.h")
    bottom = max(b[1] + b[3] for b in (manager, inputs, session)) + 44
    sampler = p.box(710, bottom, 190, "Sampler", ["logits to tokens"], "runtime")

    p.arrow([(95, model[1] + model[3]), (95, importer[1])])
    p.arrow([right(importer), (190, importer[1] + 28), (190, 68), left(module)])
    p.arrow([right(module), left(host)])
    p.arrow([(420, 68), (420, 32), (680, 32), (680, 68), left(device)])
    p.arrow([(right(host)[0], below - 12), (right(host)[0] + 10, below - 12), (right(host)[0] + 10, below + 12),
             (940, below + 12), (940, 68), left(artifact)])
    p.arrow([right(device, 60), (940, 100), (940, 68), left(artifact)])
    p.arrow([(1060, artifact[1] + artifact[3]), (1060, session[1])], "loaded", (1068, session[1] - 22))
    p.arrow([(1010, artifact[1] + artifact[3]), (1010, below + 26), (555, below + 26), (555, top)],
            "the manifest's geometry builds the manager", (700, below + 40))
    p.arrow([right(requests), left(scheduler)])
    p.arrow([right(scheduler), left(manager)], "alloc", (404, top + 20))
    p.arrow([right(manager), left(inputs)])
    p.arrow([right(inputs), left(session)])
    p.arrow([(1060, session[1] + session[3]), (1060, bottom + 28), right(sampler)], "logits", (1068, bottom + 20))
    p.arrow([left(sampler), (305, bottom + 28), (305, scheduler[1] + scheduler[3])],
            "next tokens: step, or release", (330, bottom + 22))
    return p.svg()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kv-opt", required=True)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    options = parser.parse_args()
    svg = draw(options.kv_opt)
    if not options.check:
        PICTURE.write_text(svg, encoding="utf-8")
    elif not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != svg:
        sys.exit("docs/explanation/data-way.svg is not the picture of this code: run scripts/picture.py --kv-opt "
                 "build/release/bin/kv-opt")


if __name__ == "__main__":
    main()
