"""What is proved of the plan that a block of threads makes on the device (kernels/cuda/movers/PlanBody.h): it has the
tiles and cuts of makePlan(), whose line plan.py is about.

One thread is executed, which stands for all. What a thread reads of shared memory is what a thread of that number has
stored before the last barrier: each theorem says what that is, and proves it of what this thread stores."""

import itertools

import z3

from cxx import Array, Pointer, Struct
from plan import MOST, batch_of, shape_of

And, Or, Not, Implies, If = z3.And, z3.Or, z3.Not, z3.Implies, z3.If
THREADS = 256  # MoverThreads
BLOCK = Struct("probe::B", {"lane": 0})


def lesser(a, b):
    return If(a <= b, a, b)


def prefix(t, name):
    """Sums of what is not negative: of the first 0, 1, 2, ..."""
    sums = z3.Function(name, z3.IntSort(), z3.IntSort())
    t.know(sums(0) == 0)
    return sums


def thread_of(t):
    t.thread = t.integer("thread", "int32_t", 0)
    t.assume(t.thread < THREADS)
    t.machine.constants = {"MoverThreads": THREADS}
    t.machine.members = {"thread": lambda path: t.thread, "shared": lambda path, *_: Struct("View", {})}


def sums_are_of_threads_before(t):
    """sumBefore(): after round k, the place of a thread has the sum over it and the 2^k - 1 threads before it."""
    thread_of(t)
    sums, machine = prefix(t, "sums"), t.machine
    rounds, written, readable = itertools.count(), None, None

    def partial(thread, number):
        first = If(thread + 1 > 2**number, thread + 1 - 2**number, 0)
        t.know(*(And(0 <= sums(each), sums(each) <= 2**61) for each in (first, thread + 1)))
        return sums(thread + 1) - sums(first)

    def store(path, index, value):
        nonlocal written
        half = z3.simplify(index - t.thread)
        assert z3.is_int_value(half) and written is None, "a thread has one place a round"
        written = half.as_long(), next(rounds)
        goal(path, Or(half == 0, half == THREADS), "a place is the thread's")
        goal(path, z3.BoolVal(readable is None or half.as_long() != readable[0]), "no thread reads that place")
        goal(path, value == partial(t.thread, written[1]), "a sum is that of the round")

    def load(path, index):
        half, number = readable or (0, 0)
        goal(path, And(0 <= index - half, index - half < THREADS, readable is not None), "a sum is there")
        return partial(index - half, number)

    def sync(path):
        nonlocal written, readable
        readable, written = written or readable, None

    goal = lambda path, formula, name: machine.goal(name, path, formula)
    machine.members |= {"store": store, "load": load, "sync": sync}
    value = sums(t.thread + 1) - sums(t.thread)
    result, (_, total) = machine.call("sumBefore", BLOCK, value)
    t.prove(result == sums(t.thread), total == sums(THREADS))


class Line:
    """Tiles by their number in the whole plan, and what the members of a block do to them."""

    def __init__(self, t, shape, batch, room):
        self.t, self.shape, self.room, self.sequences = t, shape, room, batch["sequences"]
        self.tilesBefore, self.start = prefix(t, "tilesBefore"), prefix(t, "start")
        self.fields = {name: z3.Function(f"{name} of", z3.IntSort(), z3.IntSort()) for name in ("leafBegin", "leafEnd")}
        self.count = z3.Function("count", z3.IntSort(), z3.IntSort())
        self.base = self.v = None

    def before(self, sequence):
        """Tiles of the sequences before one."""
        sequence = lesser(sequence, self.sequences)
        self.t.know(Implies(sequence >= 0, And(0 <= self.tilesBefore(sequence), self.tilesBefore(sequence) <= 2**61)))
        return self.tilesBefore(sequence)

    def cost(self, number):
        begin, end = (self.fields[name](number) for name in ("leafBegin", "leafEnd"))
        cost = self.t.machine.product(end - begin + 2, self.shape["heads"])
        start = self.start(number)
        self.t.know(0 <= begin, begin <= end, end < 2**31 - 8, Implies(number >= 0, And(
            0 <= start, self.start(number + 1) == start + cost, self.start(number + 1) <= 2**61)))
        return begin, end

    def sequenceAt(self, batch, index):
        return Struct("Sequence", {"index": index})

    def tilesOf(self, shape, sequence):
        own = self.own = sequence["index"]
        count = self.count(own)
        self.t.know(0 <= count, count <= MOST,
                    Implies(own >= 0, self.tilesBefore(own + 1) == self.tilesBefore(own) + count))
        return count

    def makeTile(self, shape, sequence, index, number, start):
        """Its row is its number among its sequence's."""
        self.tilesOf(shape, sequence)
        begin, end = self.cost(self.tilesBefore(index) + number)
        return Struct("Tile", {"sequence": index, "row": number, "leafBegin": begin, "leafEnd": end, "start": start})

    def sumBefore(self, path, block, value):
        """What sums_are_of_threads_before() says, of sums that grow by a thread's value: first of tiles, then of
        costs."""
        t, v = self.t, self.v
        if self.base is None:
            base = self.base = self.own - t.thread
            sums = lambda thread: self.before(base + thread)
        else:
            self.depth = len(path)
            sums = lambda thread: self.start(v.tilesBefore + lesser(v.first + thread, v.tiles))
        t.machine.goal("a sum grows by a thread's value", path,
                       And(value >= 0, sums(t.thread + 1) == sums(t.thread) + value))
        t.machine.exits.append(Implies(And(path), And(
            sums(0) <= sums(t.thread), sums(t.thread) <= sums(THREADS), 0 <= sums(0), sums(THREADS) <= 2**62)))
        return sums(t.thread) - sums(0), sums(THREADS) - sums(0)


def device_plan_is_the_line(t):
    """planBody(): tile g is the one that makePlan() counts as number g, it begins where the one before ends, and cut p
    is partBegin(p)."""
    thread_of(t)
    machine, shape, batch = t.machine, shape_of(t), batch_of(t)
    room, sequences = t.integer("room", "int64_t", 0), batch["sequences"]
    t.assume(room < MOST, sequences < MOST - 2 * THREADS, shape["parts"] < MOST - 2 * THREADS)
    line = Line(t, shape, batch, room)
    cut = machine.array("cut", machine.zero("Cut"))
    tiles, cuts, header = Array(lambda index: None), Array(lambda index: None), Array(lambda index: None)
    goal = lambda path, formula, name: machine.goal(name, path, formula)
    seen = {}

    def end_of(v, thread):
        return line.before(v.base + thread + 1) - line.before(v.base)

    def store(path, place, value):
        if place is header:
            seen["header"] = value
        elif not isinstance(place, Pointer):  # ends
            goal(path, value == line.before(line.base + place + 1) - line.before(line.base), "an end is its thread's")
            goal(path, place == t.thread, "a place is the thread's")
        elif place.array is cuts:
            goal(path, And(*(value[name] == cut[place.offset][name] for name in value)), "a cut is that of its part")
        else:
            at, index, number = place.offset, value["sequence"], value["row"]
            goal(path, And(0 <= at, at < room), "a tile has room")
            goal(path, And(at == line.tilesBefore(index) + number, 0 <= number, number < line.count(index), 0 <= index,
                           index < sequences), "a tile is the one of its number")
            goal(path, value["start"] == line.start(at), "a tile begins where the one before ends")
            goal([*path[:line.depth], at < line.before(line.base + THREADS), at < room], And(*path), "each tile is stored")

    def load(path, place):
        if isinstance(place, Pointer):
            begin, end = line.cost(place.offset)
            return Struct("Tile", {"sequence": 0, "row": 0, "leafBegin": begin, "leafEnd": end,
                                   "start": line.start(place.offset)})
        goal(path, And(0 <= place, place < THREADS), "an end is there")
        return line.before(line.base + place + 1) - line.before(line.base)

    machine.members |= {"store": store, "load": load, "sync": lambda path: None, "sumBefore": line.sumBefore}
    machine.stubs |= {"maxTiles": lambda *_: room, "sequenceAt": line.sequenceAt, "tilesOf": line.tilesOf,
                      "makeTile": line.makeTile, "checkRowOffset": lambda *_: 0,
                      "payloadOf": lambda total, parts: 1, "partBegin": lambda shape, header, tiles, part: cut[part]}

    def within(v):
        line.v, at = v, v.tilesBefore + lesser(v.first, v.tiles)
        return And(0 <= v.first, v.first % THREADS == 0, v.first < v.tiles + THREADS,
                   Implies(at < room, v.costBefore == line.start(at)))

    machine.loops["planBody"] = [
        (lambda v: z3.BoolVal(True), lambda v: z3.IntVal(0)),
        (lambda v: And(0 <= v.base, v.base % THREADS == 0, v.base < sequences + THREADS, v.tilesBefore == line.before(
            v.base), Implies(v.tilesBefore < room, v.costBefore == line.start(v.tilesBefore))),
         lambda v: sequences + THREADS - v.base),
        (within, lambda v: v.tiles + THREADS - v.first),
        (lambda v: And(-1 <= v.low, v.low < v.high, v.high < THREADS, end_of(v, v.high) > v.i,
                       Or(v.low == -1, end_of(v, v.low) <= v.i)), lambda v: v.high - v.low),
        (lambda v: And(v.part >= t.thread, v.part % THREADS == t.thread), lambda v: shape["parts"] + THREADS - v.part)]
    machine.call("planBody", BLOCK, Struct("PlanParams", {
        "batch": batch, "shape": shape, "header": header, "tiles": tiles, "cuts": cuts, "errors": 0}))
    made = seen["header"]
    t.prove(made["tiles"] == lesser(line.before(sequences), room),
            Implies(made["tiles"] > 0, made["total"] == line.start(made["tiles"])), Implies(made["tiles"] == 0,
                                                                                            made["total"] == 0))


# A program in which threads of the host make the plan of some sequences, and show whether it is makePlan()'s.
PROGRAM = """
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>
#include "kernels/block/Block.h"
#define Block class
#include "kernels/cuda/movers/PlanBody.h"
struct Thread {
  std::barrier<> &all;
  char *memory;
  int number;
  template <class T> struct View {
    T *data;
    T load(int i) const { return data[i]; }
    void store(int i, T x) const { data[i] = x; }
  };
  int thread() const { return number; }
  void sync() { all.arrive_and_wait(); }
  template <class T> View<T> shared(int offset, int) { return {reinterpret_cast<T *>(memory + offset)}; }
  template <class T> T load(const T *p) const { return *p; }
  template <class T> void store(T *p, const T &x) const { *p = x; }
  void storeLargest(uint64_t *, uint64_t) const {}
};
inline bool isLine() {
  using namespace kv::plan;
  using kv::cuda::MoverThreads;
  std::vector<int32_t> cached, offsets{0};
  for (int i = 0; i < 600; ++i) {
    cached.push_back(i * 37 % 500);
    offsets.push_back(offsets.back() + i * 53 % 71);
  }
  kv::cuda::PlanParams p{};
  p.batch = {cached.data(), offsets.data(), 600, offsets.back(), 1 << 20};
  p.shape = {2, 3, 16, 64, 1, 0, 0, INT64_MAX, 7, 8, 0};
  std::vector<Tile> tiles(maxTiles(p.shape, 600, offsets.back()) + 1), own(tiles);
  std::vector<Cut> cuts(9), ownCuts(cuts);
  Header header = makePlan(p.shape, p.batch, tiles.data(), cuts.data()), ownHeader{};
  p.tiles = own.data();
  p.cuts = ownCuts.data();
  p.header = &ownHeader;
  std::barrier<> all(MoverThreads);
  std::vector<char> memory(kv::cuda::PlanSharedBytes);
  std::vector<std::thread> threads;
  for (int t = 0; t < MoverThreads; ++t)
    threads.emplace_back([&, t] {
      Thread thread{all, memory.data(), t};
      kv::cuda::planBody(thread, p);
    });
  for (std::thread &thread : threads)
    thread.join();
  auto same = [](const auto &a, const auto &b) { return !std::memcmp(&a[0], &b[0], a.size() * sizeof(a[0])); };
  return same(tiles, own) && same(cuts, ownCuts) && header.total == ownHeader.total &&
         header.payload == ownHeader.payload && header.tiles == ownHeader.tiles;
}
"""
