"""What a visit to a GPU is made of (tools/gpu-verify/gpu_verify): limits, predictions, what is said."""

import sys
from types import SimpleNamespace

import pytest
from tools import ROOT

sys.path.insert(0, str(ROOT / "tools/gpu-verify"))

from gpu_verify import predictions, suites, summary, visit, worker  # noqa: E402
from gpu_verify.clock import Clock  # noqa: E402
from gpu_verify.predictions import Measured, scaled  # noqa: E402
from gpu_verify.results import FAILED, LEFT, PASSED, Results  # noqa: E402

MACHINE = {"visit": "when", "commit": "c", "compute_capability": "9.0", "multiprocessors": 132,
           "kernels": [f"kv_{i}" for i in range(190)]}


def row(suite, name, status=PASSED, message="", measurements=(), **more):
    return {"suite": suite, "row": name, "build": "a", "status": status, "message": message,
            "seconds": 1, "measurements": list(measurements), "kernels": [], **more}


def metric(name, value, baseline=""):
    return {"metric": name, "unit": "", "value": value, "baseline": baseline, "aim": None}


def test_predictions_are_of_the_machine():
    assumed = {"terabytes": 4.3, "gigahertz": 1.755, "sms": 132}
    read_bound = {"parts": {"launch": 2, "around": 8, "leaves": 50, "uneven": 10, "read": 90}}
    assert scaled(read_bound, assumed, Measured()) == 2 + 8 + 10 + 90
    # An H100 reads 3.0 TB/s: only what is read takes longer.
    assert scaled(read_bound, assumed, Measured(terabytes=3.0)) == pytest.approx(
        2 + 8 + 10 + 90 * 4.3 / 3)
    # At half of the clock all but the launch and the reading take twice as long.
    assert scaled(read_bound, assumed, Measured(gigahertz=1.755 / 2)) == 2 + 16 + 20 + 90
    # Where memory is twice as fast, and leaves bind.
    assert scaled(read_bound, assumed, Measured(terabytes=43)) == 2 + 8 + 50
    # Half of the SMs have as much before and after, and twice as many leaves.
    assert scaled(read_bound, assumed, Measured(4.3, 1.755, 66)) == 2 + 8 + 90 + 20


def test_parts_of_predictions_are_their_times():
    known = predictions.read()
    for each in known["rows"]:
        time = scaled(each, known["machine"], Measured())
        assert time == pytest.approx(each["us"], rel=0.01), each["case"]
        reading = "of the read ceiling" in each["beside"]
        assert (each["parts"]["read"] > 0) == reading, each["case"]


def test_an_h100_is_compared_with_an_h100(tmp_path):
    case = "attention bf16 64x8191+1 32/8 d128 page 16"
    results = Results(tmp_path)
    results.add(MACHINE)
    results.add(row("timing", case, measurements=[metric("time", 720), metric("clock", 1755)]))
    assert summary.predicted(results)[case] == pytest.approx(510, rel=0.01)
    results.add(row("ceilings", "read ceiling", measurements=[metric("bytes", 3000)]))
    assert 700 < summary.predicted(results)[case] < 735
    results.close()


def test_few_lines_come_back(tmp_path):
    """Of 190 kernels that have not run, of rows that were left, of messages of many lines."""
    results = Results(tmp_path)
    results.add(MACHINE)
    for i in range(50):
        results.add(row("long", f"row {i}", LEFT, "kv_1 has hung before"))
    results.add(row("long", "wrong", FAILED, "one\ntwo\n" * 200))
    said = summary.verdict(results)
    assert len(said.splitlines()) < 10 and len(said) < 1500, said
    assert "190 kernels have not run yet" in said and "note long: 50 rows: kv_1 has" in said
    assert "not run yet: kv_0, kv_1," in summary.text(results)
    results.close()


def test_the_log_comes_back_row_by_row(tmp_path):
    results = Results(tmp_path / "a", tmp_path / "b")
    results.log.write("the driver said something\n")
    results.add(row("long", "one"))
    assert "the driver said something" in (tmp_path / "b/log.txt").read_text()
    results.close()


def asked(tmp_path, **options):
    made = SimpleNamespace(results=tmp_path / "results", mirror=None, seconds=300, row_limit=None,
                           peer=[], small=False, only=None)
    (tmp_path / "commit").write_text("c\n")
    return visit.Visit(tmp_path, SimpleNamespace(**{**vars(made), **options}))


def test_limits_of_rows(tmp_path):
    made = asked(tmp_path)
    made.results.add(MACHINE)

    def limit(suite, seconds):
        return made.limit(suites.Suite(made, suite), suites.Row("row", seconds))

    assert (limit("long", 0.1), limit("long", 1.5), limit("long", 8)) == (5, 15, 20)
    assert limit("timing", 0.7) == 7 and limit("racecheck long", 20) == 90
    assert asked(tmp_path, row_limit=900).limit(suites.Suite(made, "long"), suites.Row("row", 1)) == 900
    # There a driver translates kernels first.
    made.results.add({**MACHINE, "compute_capability": "11.0"})
    assert limit("long", 0.1) == 20


def test_kernels_that_hang_twice(tmp_path):
    made = asked(tmp_path)
    made.results.add(row("long", "a", FAILED, hung=["kv_plan", "kv_x"]))
    assert made.hung_kernels("a") == []
    # Both were launched by both rows; one of them has been in a row that passed since.
    made.results.add({**row("long", "b"), "kernels": ["kv_plan"]})
    made.results.add(row("long", "c", FAILED, hung=made.suspects(["kv_plan", "kv_x"], "a")))
    assert made.hung_kernels("a") == ["kv_x"]
    # If all of them have been right elsewhere, it is the last one.
    assert made.suspects(["kv_plan"], "a") == ["kv_plan"]


def test_libraries_are_for_kv_run_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/own")
    plain = suites.environment()
    assert str(tmp_path) not in plain["LD_LIBRARY_PATH"]
    run = suites.with_libraries(plain, tmp_path)
    assert run["LD_LIBRARY_PATH"].split(":")[:2] == [f"{tmp_path}/lib", "/own"]


class Stubborn(Clock):
    """As if the driver held every process."""

    def kill(self, process):
        super().kill(process)
        return False


def test_a_process_that_cannot_be_killed_is_left_alone(tmp_path):
    with open(tmp_path / "log", "w", encoding="utf-8") as log:
        with pytest.raises(worker.Hung, match="sleep did not end within 0 s, and its process does not "
                                              "end within 5 s: it is left alone"):
            worker.call(["sleep", "100"], 0.1, None, log, Stubborn())
        hangs = worker.Worker(["sh", "-c", "read row; echo + kv_x; sleep 100"], None, log, Stubborn())
        with pytest.raises(worker.Hung, match="the last kernel launched is kv_x, and its process") as hung:
            hangs.ask("row", 1)
        assert hung.value.launched == ["kv_x"]


def test_a_child_ends_with_its_parent(tmp_path):
    """ncu starts the program that hangs."""
    with open(tmp_path / "log", "w", encoding="utf-8") as log:
        with pytest.raises(worker.Hung, match="sh did not end within 0 s$"):
            worker.call(["sh", "-c", "sleep 100 & wait"], 0.2, None, log, Clock())
