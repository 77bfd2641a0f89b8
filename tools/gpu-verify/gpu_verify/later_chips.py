"""The rehearsal as 10.0 and 12.0: their own kernels, with faults; and what a GPU is told whose chip
did not travel."""

from typing import NamedTuple

from . import pack, summary, visit
from .rehearsal import Rehearsal, expect, failures
from .results import Results


class Chip(NamedTuple):
    name: str
    first: str  # of the fake driver's devices
    wrong: str  # an instruction, and the row that sees it
    instruction: str
    page: str  # a kernel that reads a wrong page, and the step that sees it
    step: str
    others: str  # an instruction that is left out
    slow: tuple  # a suite, and one of its tests


CHIPS = (Chip("10.0", "5",
              "tensor_memory_f16_other_64", "Instruction.TensorProductsOfTensorMemory",
              "tensor_bf16_64", "bf16 1x20+30 4/1 d64 page 16",
              "Instruction.MultiplyOf8Bits",
              ("tiles", "AttentionTiles.BitsOfTheOtherPrefill")),
         Chip("12.0", "3",
              "mma_e4m3", "Instruction.MultiplyOf8Bits",
              "decode_f8p_128", "f8p 2x300+1 8/1 d128 page 16",
              "Instruction.TensorCommits",
              ("bytes", "Heads/AttentionBytes.AreTheDefinition/0")))


def visit_one(rehearsal, chip):
    """Its correctness and some timing, with the faults."""
    results, environment = rehearsal.fresh(), {"KV_FAKE_CUDA_FIRST": chip.first}

    def red(suites, fault, *expected):
        _, records = rehearsal.run(visit.UNEQUAL, results, "--only", suites,
                                   KV_FAKE_CUDA_FAULT=fault, **environment)
        expect(failures(records) == sorted(expected),
               f"{chip.name}: {fault} gives red rows {failures(records)}")
        return records

    records = red("instructions,probes,ceilings,timing", f"wrong:kv_test_{chip.wrong}",
                  chip.instruction)
    left = records["instructions", chip.others]["message"]
    expect(left.startswith("left out: "), f"{chip.name}: {chip.others} says '{left}'")
    red("long", f"page:kv_attention_{chip.page}", chip.instruction, chip.step)
    known = Results(results)
    expect(known.machine()["compute_capability"] == chip.name, f"{chip.name}: {known.machine()}")
    unseen = [kernel for kernel, (ran, _) in summary.kernels(known).items()
              if not ran and kernel.startswith(("kv_attention", "kv_latent"))]
    expect(not unseen, f"{chip.name}: {unseen} did not run")
    suite, row = chip.slow
    result = rehearsal.ask(suite, row, **environment)["result"]
    expect(result["passed"] and not result["message"], f"{chip.name}: {row}: {result}")


def rehearse(build):
    rehearsal = Rehearsal(build)
    with rehearsal.scratch:
        expect(pack.pack(rehearsal.folder, build, ("sm_100a", "sm_120"), models=False) == 0,
               "it is not packed")
        for chip in CHIPS:
            visit_one(rehearsal, chip)
        said, _ = rehearsal.run(visit.USAGE, rehearsal.fresh())
        expect("no images for a GPU of compute capability 9.0" in said, f"another chip: {said}")
