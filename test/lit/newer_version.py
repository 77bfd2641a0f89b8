"""Prints a bytecode file as a later version of the dialect would have begun it."""

import sys

# Section 7 (a dialect's version), one byte long: the number as a varint, (n << 1) | 1.
CURRENT, NEWER = b"\x07\x03\x05", b"\x07\x03\x07"

data = open(sys.argv[1], "rb").read()
assert data.count(CURRENT) == 1, data
sys.stdout.buffer.write(data.replace(CURRENT, NEWER))
