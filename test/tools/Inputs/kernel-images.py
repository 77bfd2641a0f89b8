"""make FOLDER: files with the names of device code, each with its name in it.
list ARTIFACT: what it says of its target, weights and host arguments, and its
device code."""

import json
import struct
import sys
from pathlib import Path


def section(data, name):
    """The bytes of a section of a 64-bit ELF file."""
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    for header in headers:
        text = data[headers[names][4] + header[0]:].split(b"\0", 1)[0]
        if text.decode() == name:
            return data[header[4]:header[4] + header[5]]
    sys.exit(f"no section {name}")


def make(folder):
    # Those of one chip.
    for name in ("kv_attention_tiles_bf16_64.sm_90a.cubin",
                 "kv_attention_drafts_bf16_64.sm_90a.cubin",
                 "kv_attention_tensor_bf16_64.sm_100a.cubin",
                 "kv_attention_tiles_f8p_64.sm_90a.cubin",
                 "kv_attention_tensor_f8p_64.sm_100a.cubin",
                 "kv_attention_decode_f8p_64.sm_120.cubin",
                 "kv_attention_prefill_f8p_64.sm_120.cubin"):
        Path(folder, name).write_text(f"code of {name}")
    kernels = ["kv_movers"] + [f"kv_attention_{kind}_bf16_64" for kind in ("decode", "prefill")]
    for kernel in kernels:
        for suffix in ("sm_80.cubin", "sm_90a.cubin", "sm_100a.cubin", "sm_120.cubin",
                       "compute_80.ptx"):
            name = f"{kernel}.{suffix}"
            Path(folder, name).write_text(f"code of {name}")


def show(artifact):
    data = Path(artifact).read_bytes()
    manifest = json.loads(section(data, ".kv.manifest"))
    target = manifest["target"]
    inputs = manifest["entries"][0]["inputs"]
    print("target:", target["kind"], target["cpu"], *target["chips"])
    print("layouts:", *(each["layout"] for each in inputs if "layout" in each))
    print("host:", *(each["name"] for each in inputs if each.get("host")))
    kernels = section(data, ".kv.kernels")
    magic, version, count = struct.unpack_from("<8sII", kernels)
    assert (magic, version) == (b"KVKERNEL", 1)
    for i in range(count):
        name, chip, offset, size = struct.unpack_from("<48s16sQQ", kernels, 16 + i * 80)
        assert offset % 16 == 0
        text = kernels[offset:offset + size].decode()
        print(f"{name.decode().rstrip(chr(0))} {chip.decode().rstrip(chr(0))}: {text}")


{"make": make, "list": show}[sys.argv[1]](sys.argv[2])
