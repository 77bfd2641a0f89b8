"""1000 random changes of masks, scales, index maps, orders of dimensions and sizes: whatever is
raised nevertheless computes what the changed graph does. mutants.py takes more."""

import mutants


def test_no_wrong_raise():
    raised, executed, wrong = mutants.check(1000)
    assert not wrong, f"python test/python/raise/mutants.py 1 {wrong[0]}"
    # Not all are refused, and not all are left out.
    assert raised > 100 and executed > 0.9 * raised
