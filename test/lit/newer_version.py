"""Prints a bytecode file as a later version of the dialect would have begun it."""

import sys

# Section 7 (a dialect's version), one byte long: the number as a varint, (n << 1) | 1.
# The dialects stand first: later the same bytes may mean anything.
CURRENT, NEWER = b"\x07\x03\x0f", b"\x07\x03\x11"

data = open(sys.argv[1], "rb").read()
assert CURRENT in data, data
sys.stdout.buffer.write(data.replace(CURRENT, NEWER, 1))
