"""Descriptors of docs/reference/exchange.md: kv/ABI/Exchange.h against exchange_reader.py, which was written from the page,
on vectors.txt, on rows that numpy lays out, and on KV_EXCHANGE_MUTANTS changed descriptors."""

import ctypes
import os
import random
import re
from pathlib import Path

import exchange_reader
import numpy as np
import pytest
from tools import ROOT

VECTORS = Path(__file__).with_name("vectors.txt")
PAGE = ROOT / "docs/reference/exchange.md"
MODEL, PREFIX = bytes(range(1, 17)), bytes(range(101, 117))


class Descriptor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_uint8), ("planes", ctypes.c_uint8), ("scale_dtype", ctypes.c_uint8),
                ("order", ctypes.c_uint8 * 5), *((name, ctypes.c_uint32) for name in exchange_reader.WORDS),
                ("pages", ctypes.c_uint64), ("first", ctypes.c_uint64), ("tokens", ctypes.c_uint64),
                ("model", ctypes.c_uint8 * 16), ("prefix", ctypes.c_uint8 * 16)]

    def fields(self):
        return {name: bytes(value) if name in ("model", "prefix") else list(value) if name == "order" else value
                for name, value in ((name, getattr(self, name)) for name, _ in self._fields_)}


@pytest.fixture(scope="module")
def library():
    loaded = ctypes.CDLL(os.environ.get("KV_TEST_EXCHANGE", ROOT / "build/release/lib/libKVTestExchange.so"))
    for name in ("readDescriptor", "writeDescriptor"):
        getattr(loaded, name).restype = ctypes.c_char_p
    loaded.rowOffset.restype = ctypes.c_uint64
    return loaded


def read(library, data):
    """The fields, or None."""
    it = Descriptor()
    problem = library.readDescriptor(data, ctypes.c_uint64(len(data)), ctypes.byref(it))
    return None if problem else it


def written(library, it):
    data = ctypes.create_string_buffer(128)
    problem = library.writeDescriptor(ctypes.byref(it), data)
    assert not problem, problem
    return data.raw


def collection(library, rows=(0, 40, 0, 0, 1), **fields):
    cache = dict(dtype=2, layout=0, layers=3, heads=2, dim=8, page=16, vDim=0, scaleGroup=0, window=0, pageLayers=0) | fields
    it = Descriptor()
    library.describe((ctypes.c_int64 * 10)(*cache.values()), (ctypes.c_int64 * 5)(*rows), ctypes.byref(it))
    it.model[:], it.prefix[:] = MODEL, PREFIX
    return it


def orders():
    """The layouts of other engines that the page lists: name -> order."""
    found = {}
    for row in re.findall(r"^\| (?:vLLM|LMCache): (.*) \| (.*) \|$", PAGE.read_text(), re.M):
        names, places = (re.findall(r"`([^`]*)`", cell) for cell in row)
        for name, place in zip(names, places * len(names) if len(places) == 1 else places, strict=True):
            found[name] = [int(digit) for digit in place.split()]
    return found


def made(library):
    """Name -> descriptor: collections, and the layouts of other engines."""
    found = {
        "nhd": collection(library), "hnd": collection(library, layout=1), "cpu": collection(library, layout=2),
        "latent": collection(library, heads=1, dim=24, vDim=16), "scales": collection(library, dtype=3, scaleGroup=4),
        "window": collection(library, rows=(64, 33, 0, 0, 1), window=20),
        "band": collection(library, rows=(16, 16, 1, 0, 1), layers=4, pageLayers=2),
        "rank": collection(library, rows=(0, 40, 0, 3, 4))}
    found["scales-of-powers"] = collection(library, dtype=6, scaleGroup=8)
    found["scales-of-powers"].scale_dtype = 5
    for name, order in orders().items():
        latent = dict(heads=1, vDim=8) if name == "NL_X_NB_BS_HS" else {}
        found[name] = collection(library, rows=(0, 16, 0, 0, 1) if name == "KV_2LTD" else (0, 40, 0, 0, 1), **latent)
        found[name].order[:] = order
    return found


def test_the_page_lists_the_layouts(library):
    assert {"LBHNC", "LBNHC", "LHBNC", "BLHNC", "BLNHC", "BHLNC"} < set(orders()) and len(orders()) == 15
    for name in ("LBHNC", "LBNHC", "LHBNC", "BLHNC", "BLNHC", "BHLNC"):
        letters = {0: "B", 2: "L", 3: "N", 4: "H", 1: "C"}
        assert "".join(letters[dim] for dim in orders()[name]) == name


def test_vectors(library):
    """What is stored never changes; both readers read it; writing it gives the same bytes."""
    stored = dict(line.split() for line in VECTORS.read_text().splitlines())
    found = made(library)
    assert {name: written(library, it).hex() for name, it in found.items()} == stored
    for name, text in stored.items():
        data = bytes.fromhex(text)
        assert read(library, data).fields() == exchange_reader.read(data) == found[name].fields(), name
        assert int.from_bytes(data[88:96], "little") == exchange_reader.total(exchange_reader.read(data))


def test_rows_lie_where_the_page_says(library):
    """Rows with numbers of their own in the logical order, laid out by numpy, are found at their offsets."""
    for name, it in made(library).items():
        fields, shape = it.fields(), exchange_reader.extents(it.fields())
        rows = np.arange(np.prod(shape)).reshape(shape)
        flat = rows.transpose(fields["order"]).ravel()
        width = fields["dim"] * exchange_reader.BYTES[fields["dtype"]]
        for index in np.ndindex(*shape):
            at = library.rowOffset(ctypes.byref(it), 0, (ctypes.c_uint64 * 5)(*index))
            assert at == exchange_reader.offset(fields, False, index) and flat[at // width] == rows[index], name
            if fields["scale_group"]:
                at = library.rowOffset(ctypes.byref(it), 1, (ctypes.c_uint64 * 5)(*index))
                assert at == exchange_reader.offset(fields, True, index)
                scales = fields["dim"] // fields["scale_group"] * exchange_reader.SCALE_BYTES[fields["scale_dtype"]]
                assert flat[(at - width * rows.size) // scales] == rows[index]


def mutated(choose, vectors):
    data = bytearray(choose.choice(vectors))
    for _ in range(choose.randint(1, 3)):
        kind, at = choose.randrange(6), choose.randrange(128)
        if kind == 0:
            data[at] ^= 1 << choose.randrange(8)
        elif kind == 1:
            data[at] = choose.choice((0, 1, 2, 3, 127, 128, 255, choose.randrange(256)))
        elif kind == 2:  # another number
            at, count = choose.choice([(24 + 4 * i, 4) for i in range(10)] + [(64 + 8 * i, 8) for i in range(4)])
            most = (1 << 8 * count) - 1
            value = choose.choice((0, 1, 2, most, most >> 1, (most >> 1) + 1, choose.randrange(64), choose.randint(0, most)))
            data[at:at + count] = value.to_bytes(count, "little")
        elif kind == 3:  # fields of another descriptor
            end = choose.randrange(at, 128)
            data[at:end] = choose.choice(vectors)[at:end]
        elif kind == 4:  # sizes whose product is near 2^62
            pages, page, layers = 1 << choose.choice((0, 31, 32, 33)), 1 << choose.randrange(24), 1 << choose.randrange(20)
            for at, count, value in ((24, 4, layers), (56, 4, page), (64, 8, pages), (72, 8, 0),
                                     (80, 8, pages * page - choose.choice((0, 0, page - 1, page)))):
                data[at:at + count] = value.to_bytes(count, "little")
        else:
            choose.shuffle(order := list(data[11:16]))
            data[11:16] = bytes(order)
    if choose.random() < 0.7:  # otherwise hardly any would have the right number of bytes
        it = {name: int.from_bytes(data[24 + 4 * i:28 + 4 * i], "little") for i, name in enumerate(exchange_reader.WORDS)}
        it |= {"dtype": data[8], "planes": data[9], "scale_dtype": data[10], "pages": int.from_bytes(data[64:72], "little")}
        if it["dtype"] in exchange_reader.BYTES and (not it["scale_group"] or it["scale_dtype"] in exchange_reader.SCALE_BYTES):
            data[88:96] = (exchange_reader.total(it) % (1 << 64)).to_bytes(8, "little")
    if choose.random() < 0.02:
        return bytes(data[:choose.randrange(128)])
    return bytes(data)


def test_mutants(library):
    count = int(os.environ.get("KV_EXCHANGE_MUTANTS", 10_000))
    vectors = [written(library, it) for it in made(library).values()]
    choose, accepted = random.Random(count), 0
    for number in range(count):
        data = mutated(choose, vectors)
        own, second = read(library, data), exchange_reader.read(data)
        assert (own.fields() if own else None) == second, (number, data.hex())
        if own:
            accepted += 1
            assert written(library, own) == data, (number, data.hex())
    assert count // 10 < accepted < count - count // 10, accepted
    print(f"{accepted} of {count} changed descriptors accepted, each as the second reader reads it")


def test_each_sentence(library):
    """A descriptor with one wrong field is refused with the sentence of that field."""
    wrong = {"dtype": 5, "planes": 0, "layers": 0, "heads": 3, "value_dim": 7, "scale_group": 3, "page": 0, "pages": 0,
             "tokens": 49, "first": 8, "all_heads": 1}
    for name, value in wrong.items():
        it = collection(library)
        setattr(it, name, value)
        problem = library.writeDescriptor(ctypes.byref(it), ctypes.create_string_buffer(128))
        assert problem and name.split("_")[-1] in problem.decode(), (name, problem)
    it = collection(library)
    it.order[1] = 0
    assert b"order" in library.writeDescriptor(ctypes.byref(it), ctypes.create_string_buffer(128))
    it = collection(library)
    it.model[:] = bytes(16)
    assert b"model" in library.writeDescriptor(ctypes.byref(it), ctypes.create_string_buffer(128))
    big = collection(library, layers=1 << 31, heads=1 << 30, dim=1 << 10)
    assert b"2^62" in library.writeDescriptor(ctypes.byref(big), ctypes.create_string_buffer(128))
