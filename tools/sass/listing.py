"""The machine code of a kernel image, as nvdisasm lists it.

`Listing(path)` has the instructions of the image's one attention kernel with
what ptxas decided for each, and the graph of its blocks.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class Problem(Exception):
    """Something that the user should read, in one sentence."""


@dataclass
class Instruction:
    address: int
    text: str  # without the semicolon
    stall: int  # cycles until the same warp's next instruction
    write_barrier: int  # of six that its result sets; 7: none
    read_barrier: int  # that is set when its operands have been read; 7: none
    waits: int  # bit i: for barrier i

    @property
    def predicate(self):
        """'', '@P0', '@!PT', ..."""
        return self.text.split()[0] if self.text.startswith("@") else ""

    @property
    def name(self):
        """The operation with its modifiers."""
        return self.text.split()[1 if self.predicate else 0]

    @property
    def operation(self):
        return self.name.split(".")[0]

    @property
    def target(self):
        """The label that it may branch to, or None."""
        found = re.search(r"`\((\.L_\w+)\)", self.text)
        return found.group(1) if found and self.operation == "BRA" else None

    @property
    def falls_through(self):
        if self.operation in ("EXIT", "RET", "BRA"):
            return bool(self.predicate) or bool(re.match(r"BRA\S* !?U?P\d,", self.text))
        return True


def find_disassembler():
    """nvdisasm of the project's virtual environment, of PATH, or of CUDA."""
    for prefix in Path(sys.prefix).glob("lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm"):
        return str(prefix)
    found = shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
    if not found:
        raise Problem("there is no nvdisasm: scripts/setup.sh installs it "
                      "(tools/sass/requirements.txt)")
    return found


def disassemble(path):
    """An image's listing, with encodings."""
    return subprocess.run([find_disassembler(), "-c", "-hex", str(path)], check=True,
                          capture_output=True, text=True).stdout


_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* 0x[0-9a-f]{16} \*/")
_SECOND_WORD = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$")


def parse(text):
    """The instructions of a listing with encodings, and the labels' indices."""
    instructions, labels = [], {}
    for line in text.splitlines():
        label = re.match(r"(\.L_\w+):", line)
        if label:
            labels[label.group(1)] = len(instructions)
            continue
        found = _INSTRUCTION.match(line)
        if found:
            pending = (int(found.group(1), 16), " ".join(found.group(2).split()))
            continue
        found = _SECOND_WORD.match(line)
        if found and pending:
            control = int(found.group(1), 16) >> 41
            instructions.append(Instruction(
                *pending, stall=control & 15, write_barrier=control >> 5 & 7,
                read_barrier=control >> 8 & 7, waits=control >> 11 & 63))
            pending = None
    return instructions, labels


class Listing:
    """The code of an image, or of one of its kernels."""

    def __init__(self, path, text=None, kernel=None):
        """Of an image or a file with its listing, or of this listing of it."""
        self.path = Path(path)
        if text is None:
            is_image = self.path.suffix == ".cubin"
            text = disassemble(self.path) if is_image else self.path.read_text()
        if kernel:
            _, found, text = text.partition(f"\n.text.{kernel}:\n")
            if not found:
                raise Problem(f"{path} has no kernel {kernel}")
            text = text.partition("\n\t.section")[0]
        self.instructions, labels = parse(text)
        if not self.instructions:
            raise Problem(f"{path} has no instructions")
        self._make_blocks(labels)

    def _make_blocks(self, labels):
        """blocks[b] is a range of instructions, after[b] the blocks that may follow."""
        count = len(self.instructions)
        begins = {0, *(i for i in labels.values() if i < count)}
        for i, instruction in enumerate(self.instructions):
            if instruction.target or not instruction.falls_through:
                begins.add(i + 1)
        begins.discard(count)
        starts = sorted(begins)
        number = {start: b for b, start in enumerate(starts)}
        self.blocks = [range(a, b) for a, b in zip(starts, [*starts[1:], count])]
        self.after = []
        for block in self.blocks:
            last = self.instructions[block[-1]]
            after = []
            # A branch of lanes that went apart is for shuffles of some lanes.
            if last.target and not last.name.startswith("BRA.DIV"):
                after.append(number[labels[last.target]])
            if last.falls_through or last.name.startswith("BRA.DIV"):
                if block[-1] + 1 in number:
                    after.append(number[block[-1] + 1])
            self.after.append(after)

    def block_instructions(self, block):
        return [self.instructions[i] for i in self.blocks[block]]

    def dominators(self):
        """Of each block that can be reached, the set of blocks on every way to it."""
        order, seen = [], set()
        stack = [(0, iter(self.after[0]))]
        seen.add(0)
        while stack:
            block, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                order.append(block)
                stack.pop()
            elif following not in seen:
                seen.add(following)
                stack.append((following, iter(self.after[following])))
        order.reverse()
        before = {b: [] for b in order}
        for b in order:
            for following in self.after[b]:
                before[following].append(b)
        dominators = {0: {0}}
        changed = True
        while changed:
            changed = False
            for b in order[1:]:
                known = [dominators[p] for p in before[b] if p in dominators]
                new = set.intersection(*known) | {b}
                if dominators.get(b) != new:
                    dominators[b] = new
                    changed = True
        return dominators, before

    def loops(self):
        """{header: blocks} of the natural loops."""
        dominators, before = self.dominators()
        loops = {}
        for block, over in dominators.items():
            for header in self.after[block]:
                if header not in over:
                    continue
                body, stack = {header}, [block]
                while stack:
                    b = stack.pop()
                    if b not in body:
                        body.add(b)
                        stack.extend(before[b])
                loops.setdefault(header, set()).update(body)
        return loops
