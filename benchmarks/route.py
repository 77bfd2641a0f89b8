"""A router before many machines: what a request costs, and what it hits.

Run by scripts/bench.sh route TRACE."""

import sys

from smollm2 import BIN, output
from table import Table

AT_ONCE = 2  # requests a machine


def main(trace):
    table = Table()
    for machines, pages, repeats, routers, states in ((100, 3000, 3, 1, 0), (1000, 3000, 6, 1, 0),
                                                      (10_000, 2000, 10, 1, 0), (10_000, 2000, 10, 10, 0),
                                                      (10_000, 2000, 10, 1, 60)):
        figures = {name: float(value) for name, value in
                   (line.split("\t") for line in
                    output(BIN / "route-simulation", trace, machines, pages, AT_ONCE * machines, repeats,
                           routers, states).splitlines())}
        case = (f"{machines} machines" + (f", {routers} routers" if routers > 1 else "")
                + (f", {states} states each" if states else ""))
        table.row(case, "choose, mean", figures["choose"], "us", 20)
        table.row(case, "choose, slowest hundredth", figures["choose p99"], "us", 20)
        table.row(case, "with load and events", figures["all"], "us")
        table.at_least(case, "requests predicted", figures["predicted"], "of all", "the machine's cache",
                       figures["predicted"], 0.99)
        table.row(case, "pages hit", figures["routed"], "of all", None,
                  f"one machine with all memory; machines in turn hit {figures['turns']:.3f}",
                  figures["routed"] / figures["whole"])
        table.row(case, "largest load", figures["largest load"], "x mean")
    return table.write("route")


sys.exit(main(sys.argv[1]))
