"""A visit on the fake driver: the folder, two commands of which the first is killed, both calls of
docs/guides/gpu-visit.md with kernels that hang, crash and are wrong and a driver that gets stuck, faults that
must be red rows, and the limits of what travels."""

import json
import shutil
import time

from . import later_chips, pack, predictions, suites, summary, visit, worker
from .rehearsal import RehearsedClock, Rehearsal, expect, failures, rows
from .results import FAILED, LEFT, PASSED, Results

MOST_FILES = 8  # that may come back
CALL = 300  # seconds of each call of a visit, as docs/guides/gpu-visit.md has it
FIRST_CALL, SECOND_CALL = 330, 300  # seconds at most, with what comes behind
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
    expect((mirror / "log.txt").exists(), "a command that is killed brings no log back")
    before = {(row["suite"], row["row"]) for row in rows(results)}
    # As if it had died in the middle of a line.
    with open(results / "rows.jsonl", "a", encoding="utf-8") as file:
        file.write('{"suite": "lo')
    said, records = rehearsal.run(visit.PASSED, results, *arguments)
    expect("kernels ran, and rightly" in said and "not run yet" not in said,
           f"kernels are missing:\n{said}")
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
    known = json.loads(path.read_text())
    timed = set(rehearsal.ask("timing"))
    lost = [each["case"] for each in known["rows"] if predictions.PREFIX + each["case"] not in timed]
    expect(not lost, f"predicted, but never timed: {lost}")
    expect(sum(each["first"] for each in known["rows"]) == 12, "a dozen rows are timed first")
    parts = {"launch": 1e-3, "around": 0, "leaves": 0, "uneven": 0, "read": 0}
    known["rows"].append({"case": PREDICTED, "us": 1e-3, "first": True, "parts": parts})
    path.write_text(json.dumps(known))


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
    """There are numbers within two minutes, and a call has time for each kind of kernel."""
    process = rehearsal.start(rehearsal.fresh(), "--plan", small=False)
    said, _ = process.communicate(timeout=120)
    seconds = {}
    for line in said.splitlines():
        words = line.split()
        if line.endswith(" s") and "rows" in words:
            seconds[" ".join(words[:-4])] = float(words[-2]) + worker.START
    peers = 30  # where PyTorch is
    first = peers + sum(seconds[name] for name in suites.FIRST)
    expect(0 < first <= 120, f"what comes first takes {first:.0f} s:\n{said}")
    call = first + sum(seconds[name] for name in ("tiles", "bytes", "movers", "model"))
    expect(call <= CALL, f"the first call takes {call:.0f} s:\n{said}")
    order = list(seconds)
    expect(order[:len(suites.FIRST)] == list(suites.FIRST), f"the order is {order}")


# What is asked in both calls; the other suites are slower here, and no other code of the harness.
CALLED = "instructions,probes,ceilings,movers,long,products"


def calls(rehearsal):
    """A visit as docs/guides/gpu-visit.md has it, where much is broken; then the same, repaired."""
    results = rehearsal.fresh()
    hangs, stuck, crashes, wrong = "attention_decode_bf16_128", "norm", "rope", "argmax"
    clock = RehearsedClock(stuck=f"kv_{stuck}")
    said, records = rehearsal.visit(
        visit.UNEQUAL, results, clock, CALLED, CALL,
        KV_FAKE_CUDA_FAULT=f"hang:kv_{hangs},hang:kv_{stuck},crash:kv_{crashes},wrong:kv_{wrong}")
    expect(clock.now() <= FIRST_CALL, f"the first call takes {clock.now():.0f} s:\n{said}")
    hung = [row for row, record in records.items() if "hung" in record]
    left = [row for row, record in records.items() if record["status"] == LEFT]
    expect(sum(f"kv_{hangs}" in records[row]["hung"] for row in hung) == visit.HANGS,
           f"rows that hung: {hung}")
    expect(left and all(records[row]["message"] == f"kv_{hangs} has hung before" for row in left),
           f"rows that were left: {[records[row] for row in left]}")
    expect("does not end within 5 s: it is left alone" in records["movers", "Mover.Norm"]["message"],
           f"a process that is stuck: {records['movers', 'Mover.Norm']}")
    expect("SIGABRT" in records["movers", "Mover.Rope"]["message"], "a crash says no signal")
    known = {row for suite, row in hung} | {"Mover.Norm", "Mover.Rope", "Mover.RopeStore", "Mover.Argmax"}
    expect(set(failures(records)) == known, f"red rows: {failures(records)}, not {known}")
    asked = {(suite, row) for suite in CALLED.split(",") for row in
             rehearsal.ask(suite, small=True)}
    expect(set(records) == asked, f"not reported: {asked ^ set(records)}")
    for line in said.splitlines():
        expect(len(line) < 400, f"a line of {len(line)} characters")
    # A second process that is killed is not stuck.
    clock = RehearsedClock()
    said, records = rehearsal.visit(visit.PASSED, results, clock, CALLED, CALL, again=True)
    expect(clock.now() <= SECOND_CALL, f"the second call takes {clock.now():.0f} s:\n{said}")
    expect(all(record["status"] == PASSED for record in records.values()), f"repaired:\n{said}")


def first_rows_hang(rehearsal):
    """Of a suite whose first rows hang, no other row is asked."""
    three = rehearsal.ask("instructions", small=True)[:visit.EARLY]
    faults = ",".join(f"hang:{kernel}" for row in three
                      for kernel in rehearsal.ask("instructions", row)["kernels"])
    clock = RehearsedClock()
    _, records = rehearsal.visit(visit.UNEQUAL, rehearsal.fresh(), clock, "instructions", CALL,
                                 KV_FAKE_CUDA_FAULT=faults)
    red = failures(records)
    expect(len(red) == visit.HANGS and set(red) <= set(three), f"red rows: {red}, first: {three}")
    others = [record for record in records.values() if record["status"] == LEFT]
    expect(len(others) > 10 and all(record["message"] == "2 of its suite's first 3 rows hung"
                                    for record in others), f"left: {others[:1]}")


def watchdog(rehearsal):
    """Where the folder has images with a watchdog, correctness runs them; what one says is the row's
    message. (To the fake driver, text with the names of kernels is an image.)"""
    names = {kernel for row in rehearsal.ask("instructions", small=True)
             for kernel in rehearsal.ask("instructions", row)["kernels"]}
    images = rehearsal.folder / "lib/kv-verify-watchdog"
    kept = images.with_name("kept")  # where the build has some
    if images.exists():
        images.rename(kept)
    images.mkdir()
    (images / "kv_instructions.sm_90a.cubin").write_text(
        "\n".join([".target sm_90a", "kv_watchdog", *sorted(names)]))
    _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "instructions",
                               KV_FAKE_CUDA_FAULT="hang:kv_test_shuffle")
    expect(failures(records) == ["Instruction.Shuffle"] and
           "block 2, warp 4 waited too long for parity 1 of the barrier at byte 1024 of shared "
           "memory, at leaf 3" in records["instructions", "Instruction.Shuffle"]["message"],
           f"what a watchdog says: {records['instructions', 'Instruction.Shuffle']}")
    shutil.rmtree(images)
    if kept.exists():
        kept.rename(images)


def faults(rehearsal):
    """A launch that fails is a red row and no more; so is one page of sixteen keys among three
    thousand, and one of each other kind of kernel."""
    _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "movers",
                               KV_FAKE_CUDA_FAULT="error:kv_norm")
    expect(failures(records) == ["Mover.Norm", "Mover.RopeStore"] and "unspecified launch failure" in
           records["movers", "Mover.Norm"]["message"], f"red rows: {failures(records)}")
    pages = {"decode_bf16_128": "bf16 1x3000+1 4/1 d128 page 16",
             "tiles_bf16_64": "bf16 1x20+30 4/1 d64 page 16",
             "tiles_f8p_128": "f8p 2x300+1 8/1 d128 page 16",
             "drafts_f8s_128": "f8s 1x150+5 4/1 d128 page 16",
             "draft_tiles_f8s_128": "f8s 1x150+9 4/1 d128 page 16"}
    _, records = rehearsal.run(
        visit.UNEQUAL, rehearsal.fresh(), "--only", "long",
        KV_FAKE_CUDA_FAULT=",".join(f"page:kv_attention_{kernel}" for kernel in pages))
    expect(set(pages.values()) <= set(failures(records)),
           f"wrong pages give red rows {failures(records)}")


def limits(rehearsal):
    """A row's, a command's, and both at once."""
    hang = {"KV_FAKE_CUDA_FAULT": "hang:kv_test_shuffle"}
    _, records = rehearsal.run(visit.UNEQUAL, rehearsal.fresh(), "--only", "instructions",
                               "--row-limit", "3", **hang)
    # On a slow machine others may have taken as long.
    expect("Instruction.Shuffle" in failures(records) and
           all(record["status"] != FAILED or "did not end within" in record["message"]
               for record in records.values()), f"a hang gives red rows {failures(records)}")
    # Cut short by the command twice: then it is the row's own fault.
    results = rehearsal.fresh()
    rehearsal.visit(visit.UNFINISHED, results, RehearsedClock(), "instructions", 7, **hang)
    _, records = rehearsal.visit(visit.UNEQUAL, results, RehearsedClock(), "instructions", 7, **hang)
    expect(failures(records) == ["Instruction.Shuffle"], f"red: {failures(records)}")
    # Half a second is planned for each.
    results = rehearsal.fresh()
    _, some = rehearsal.visit(visit.UNFINISHED, results, RehearsedClock(), "instructions", 7)
    _, every = rehearsal.visit(visit.PASSED, results, RehearsedClock(), "instructions", CALL)
    expect(5 < len(some) <= 14 < len(every), f"{len(some)}, then {len(every)} rows")
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
        step("both calls, with kernels that hang, crash and are wrong")
        calls(rehearsal)
        first_rows_hang(rehearsal)
        watchdog(rehearsal)
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
