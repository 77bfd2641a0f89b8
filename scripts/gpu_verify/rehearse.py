"""A visit on the fake driver: the folder, two commands of which the first is killed, faults that
must be red rows, and the limits of what travels."""

import json
import time

from . import later_chips, pack, predictions, summary, visit
from .rehearsal import Rehearsal, expect, failures, rows
from .results import FAILED, LEFT, PASSED, Results
from .suites import CORRECTNESS

MOST_FILES = 8  # that may come back
PREDICTED = "bf16 1x3000+1 4/1 d128 page 16"
# Those that take seconds on the emulator; the others are the same code with other filters.
QUICK = "instructions,movers,long,tiles,bytes,products,model,probes,ceilings,timing,profiles"


def whole(rehearsal):
    """All quick suites, killed in the middle and resumed; two builds in turns; a mirror."""
    results, mirror = rehearsal.fresh(), rehearsal.fresh()
    arguments = ("--mirror", mirror, "--only", QUICK, "--peer",
                 f"test={rehearsal.build / 'lib/libKVTestPeer.so'}")
    process = rehearsal.start(results, *arguments)
    while process.poll() is None and (not (results / "rows.jsonl").exists() or
                                      len(rows(results)) < 15):
        time.sleep(0.02)
    expect(process.poll() is None, "it ended before it could be killed")
    process.kill()
    process.communicate()
    before = {(row["suite"], row["row"]) for row in rows(results)}
    # As if it had died in the middle of a line.
    with open(results / "rows.jsonl", "a", encoding="utf-8") as file:
        file.write('{"suite": "lo')
    said, records = rehearsal.run(visit.PASSED, results, *arguments)
    left = {line.split()[1].rstrip(":") for line in said.splitlines() if line.endswith("not run yet")}
    expect("kernels ran, and rightly" in said and not left, f"kernels are missing:\n{said}")
    count = [(row["suite"], row["row"]) for row in rows(results)]
    again = [key for key in before if count.count(key) != 1]
    expect(not again, f"rows ran again after the command was killed: {again}")
    expect(all(record["status"] == PASSED for record in records.values()), f"not all passed:\n{said}")
    builds = {row["build"] for row in rows(results) if row["suite"] == "timing"}
    expect(builds == {"a", "b"}, f"timed builds: {builds}")
    recorded = json.loads(summary.record(Results(results)))
    expect(recorded["passed"] and recorded["machine"]["device"] == "Fake 9.0" and
           recorded["commit"] and len(recorded["checks"]) > 50, f"what is recorded: {recorded}")
    expect({"time", "time of the other build", "K and V read once"} <=
           {row["metric"] for row in recorded["rows"]}, "measurements are not recorded")
    expect(any(row["ratio"] for row in recorded["rows"] if row["baseline"] == "read ceiling"),
           "no ratio to a ceiling")
    expect(any(row.startswith("peer test") and record["measurements"]
               for (_, row), record in records.items()), "the peer was not timed")
    for name in ("rows.jsonl", "summary.txt"):
        expect((results / name).read_text() == (mirror / name).read_text(), f"{name} is mirrored")
    files = [path for path in mirror.rglob("*") if path.is_file()]
    expect(len(files) <= MOST_FILES, f"{len(files)} files would come back")
    return results


def predict(rehearsal):
    """As if a step that is timed here had been predicted."""
    path = rehearsal.folder / "gpu_verify/predictions.json"
    cases = json.loads(path.read_text())
    timed = set(rehearsal.ask("timing"))
    lost = [each["case"] for each in cases if predictions.PREFIX + each["case"] not in timed]
    expect(not lost, f"predicted, but never timed: {lost}")
    path.write_text(json.dumps([*cases, {"case": PREDICTED, "us": 1e-3}]))


def profiles(rehearsal, results):
    """Of the step that is farthest from its prediction, what a profiler says is kept."""
    records = {(row["suite"], row["row"]): row for row in rows(results)}
    key = "profiles", predictions.PREFIX + PREDICTED
    found = {m["metric"]: m["value"] for m in records[key]["measurements"]}
    expect(found == {"time under the profiler": 1040.5, "L2 cache": 61.5, "stalled: wait": 0.25,
                     "stalled: long scoreboard": 3.5}, f"a profile: {records[key]}")
    text = (results / "summary.txt").read_text()
    expect(", predicted 0.001 us: " in text, f"no prediction beside what was measured:\n{text}")
    timed = rehearsal.fresh()
    timed.mkdir()
    (timed / "rows.jsonl").write_text("".join(
        line + "\n" for line in (results / "rows.jsonl").read_text().splitlines()
        if '"profiles"' not in line))
    _, records = rehearsal.run(visit.PASSED, timed, "--only", "profiles",
                               GPU_VERIFY_REHEARSED_REFUSAL="1")
    expect(records[key]["status"] == LEFT and "no permission" in records[key]["message"],
           f"a profiler that refuses: {records[key]}")


def plan(rehearsal):
    """A command has ten minutes: eight are enough for all of correctness."""
    process = rehearsal.start(rehearsal.fresh(), "--plan", small=False)
    said, _ = process.communicate(timeout=60)
    seconds = {line.split()[0]: float(line.split()[-2]) for line in said.splitlines()
               if line.endswith(" s") and len(line.split()) == 5}
    planned = sum(seconds[suite] for suite in CORRECTNESS)
    expect(0 < planned <= 480, f"correctness takes {planned:.0f} s:\n{said}")


def faults(rehearsal):
    """Each is a red row and no more."""
    for fault, row, sentence in (("crash:kv_rope", "Mover.Rope", "SIGABRT"),
                                 ("error:kv_norm", "Mover.Norm", "unspecified launch failure"),
                                 ("wrong:kv_argmax", "Mover.Argmax", "")):
        _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "movers",
                                   KV_FAKE_CUDA_FAULT=fault)
        expect(failures(records) == [row], f"{fault} gives red rows {failures(records)}")
        expect(sentence in records["movers", row]["message"],
               f"{fault}: {records['movers', row]['message']}")
        expect(len(records) > 5, f"{fault}: only {len(records)} rows ran")
    # One page of sixteen keys among three thousand; and one of each other kind of kernel.
    for kernel, row in (("decode_bf16_128", "bf16 1x3000+1 4/1 d128 page 16"),
                        ("tiles_bf16_64", "bf16 1x20+30 4/1 d64 page 16"),
                        ("tiles_f8p_128", "f8p 2x300+1 8/1 d128 page 16"),
                        ("drafts_f8s_128", "f8s 1x150+5 4/1 d128 page 16"),
                        ("draft_tiles_f8s_128", "f8s 1x150+9 4/1 d128 page 16")):
        _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "long",
                                   KV_FAKE_CUDA_FAULT=f"page:kv_attention_{kernel}")
        expect(row in failures(records), f"a wrong page gives red rows {failures(records)}")


def limits(rehearsal):
    """A row's, a command's, and both at once."""
    hang = {"KV_FAKE_CUDA_FAULT": "hang:kv_argmax"}
    _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "movers", "--row-limit",
                               "3", **hang)
    # On a slow machine others may have taken as long.
    expect("Mover.Argmax" in failures(records) and
           all(record["status"] != FAILED or "did not end within" in record["message"]
               for record in records.values()), f"a hang gives red rows {failures(records)}")
    # Cut short by the command twice: then it is the row's own fault. (A slow machine may need
    # commands to get there.)
    results, commands = rehearsal.fresh(), 0
    status = visit.UNFINISHED
    while status == visit.UNFINISHED and commands < 6:
        process = rehearsal.start(results, "--only", "movers", "--seconds", "6", **hang)
        said, _ = process.communicate(timeout=120)
        status, commands = process.returncode, commands + 1
    red = [row["row"] for row in rows(results) if row["status"] == FAILED]
    expect(status == visit.UNEQUAL and commands > 1 and red == ["Mover.Argmax"],
           f"status {status} after {commands} commands, red: {red}\n{said}")
    # The model is planned with 8 s.
    results = rehearsal.fresh()
    _, some = rehearsal.run(visit.UNFINISHED, results, "--only", "instructions,model", "--seconds",
                            "7")
    expect("model" not in {suite for suite, _ in some}, "a row ran that has no time")
    _, all_ = rehearsal.run(visit.PASSED, results, "--only", "instructions,model")
    expect("model" in {suite for suite, _ in all_} and set(some) < set(all_),
           f"{len(some)}, then {len(all_)} rows")
    # A device without room for the largest kernels has all the others.
    _, records = rehearsal.run(visit.PASSED, rehearsal.fresh(), "--only", "long",
                               KV_FAKE_CUDA_FIRST="2")
    left = [row for (_, row), record in records.items() if "left out" in record["message"]]
    expect({row.split(" page")[0].split()[-1] for row in left} == {"d192", "d256", "d576/512"},
           f"left out on a small device: {left}")


def sanitizer(rehearsal):
    _, records = rehearsal.run(visit.PASSED, rehearsal.fresh(), "--only",
                               "racecheck long,memcheck movers")
    expect({suite.split()[0] for suite, _ in records} == {"racecheck", "memcheck"}, "no tools ran")
    expect(all(record["status"] == PASSED for record in records.values()), "the tools are green")
    _, records = rehearsal.run(visit.PASSED, rehearsal.fresh(), "--only", "racecheck long",
                               GPU_VERIFY_REHEARSED_REFUSAL="1")
    expect(records and all(record["status"] == LEFT and "not supported" in record["message"]
                           for record in records.values()), "a tool that refuses is left out")
    _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only",
                               "racecheck long,memcheck movers",
                               GPU_VERIFY_REHEARSED_REPORT="racecheck")
    red = {suite for (suite, _), record in records.items() if record["status"] == FAILED}
    expect(red and all(suite.startswith("racecheck") for suite in red), f"red: {red}")


def main(build):
    rehearsal = Rehearsal(build)
    with rehearsal.scratch:
        begin = time.monotonic()

        def step(name):
            print(f"{time.monotonic() - begin:5.0f} s  {name}", flush=True)

        step("the folder")
        expect(pack.pack(rehearsal.folder, build, other=build, few=True) == 0, "it is not packed")
        pack.unpack(rehearsal.folder)  # as its first command does; one row is asked for before
        step("a visit, killed and resumed")
        predict(rehearsal)
        profiles(rehearsal, whole(rehearsal))
        step("the plan")
        plan(rehearsal)
        step("planted faults")
        faults(rehearsal)
        step("limits of time")
        limits(rehearsal)
        step("compute-sanitizer")
        sanitizer(rehearsal)
        step("as 10.0 and 12.0")
        later_chips.rehearse(build)
        step("all as it should be")
    return 0
