"""Whether every kernel for 9.0 waits for the kernels before it: `problems(text)`.

Such a kernel may begin before the one in front of it has ended, so it must wait
(griddepcontrol.wait, in machine code ACQBULK) before it touches memory that others see.
"""

import re

CHIP = ".sm_90a.cubin"
WAIT = "ACQBULK"
# Loads, stores and atomics of global memory, and copies from it.
MEMORY = {"LD", "LDG", "LDGSTS", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG", "UBLKCP", "UTMALDG"}


def functions(text):
    """(name, operations in the order of their addresses) of each kernel of a listing."""
    for part in re.split(r"\.section\s+\.text\.", text)[1:]:
        name = re.match(r"\w+", part).group(0)
        yield name, re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z0-9]+)", part)


def problems(text):
    """One sentence for each kernel that does not wait first, or that there is none."""
    found = []
    if not any(True for _ in functions(text)):
        return ["there is no kernel in it"]
    for name, operations in functions(text):
        touching = next((i for i, one in enumerate(operations) if one in MEMORY), len(operations))
        if WAIT not in operations[:touching]:
            found.append(f"{name}: no wait before its first access of memory, which is "
                         f"instruction {touching} of {len(operations)}")
    return found
