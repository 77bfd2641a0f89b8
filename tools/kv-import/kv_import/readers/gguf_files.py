"""GGUF files as they lie on a disk: opened whole or in parts, read in either byte order."""

import mmap
import re
import warnings
from pathlib import Path

import numpy as np

import gguf

from ..model.checks import regular_file
from ..model.errors import ImportFailure
from ..model.schema import GgufFile, checked

# How llama.cpp names the parts of a model: NAME-00001-of-00003.gguf.
PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.DOTALL)


class CheckedReader(gguf.GGUFReader):
    """The package's reader slices beyond the end of a truncated file without a word."""

    def _get(self, offset, dtype, count=1, override_order=None):
        needed = int(offset) + int(count) * np.dtype(dtype).itemsize
        if needed > len(self.data):
            raise ImportFailure(f"truncated or damaged GGUF: {len(self.data)} bytes, but its "
                                f"header calls for at least {needed}")
        return super()._get(offset, dtype, count, override_order)


def _open(path):
    regular_file(path)
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ImportFailure(f"{path}: cannot be read: {error.strerror}")
    if magic != b"GGUF":
        raise ImportFailure(f"{path}: not a GGUF file: it starts with {magic!r}, "
                            "a GGUF file with b'GGUF'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = CheckedReader(path)
    except ImportFailure as error:
        raise ImportFailure(f"{path}: {error}")
    except Exception as error:  # whatever damaged bytes provoke in the package
        raise ImportFailure(f"{path}: damaged GGUF: {(str(error).splitlines() or [type(error).__name__])[0]}")
    if not all(tensor.name.isprintable() for tensor in reader.tensors):
        raise ImportFailure(f"{path}: damaged GGUF: a tensor's name is not text")
    return reader


def keys_of(reader, path, schema, prefix=""):
    """What `schema` names of the keys of a file that begin with `prefix`."""
    raw = {}
    for name, field in schema.model_fields.items():
        key = field.alias or name
        if found := reader.get_field(prefix + key):
            try:
                raw[key] = found.contents()
            except (UnicodeDecodeError, IndexError):
                raise ImportFailure(f"{path}: damaged GGUF: the key {prefix}{key} is not UTF-8")
    return checked(schema, raw, path, prefix)


class GgufFiles:
    """One file, or all parts of a model. Keys are those of the first part."""

    def __init__(self, path):
        self.readers = {str(path): _open(path)}
        count = self._general(str(path)).get("split.count", 0)
        if count > 1:
            self._open_parts(str(path), count)
        self.path, self.reader = next(iter(self.readers.items()))
        self.tensors = {}
        for part, reader in self.readers.items():
            self._check(part, reader)
            for tensor in reader.tensors:
                if tensor.name in self.tensors:
                    raise ImportFailure(f"{part}: has the tensor {tensor.name}, which another part has, too")
                self.tensors[tensor.name] = tensor
        self.general = self._general(self.path)

    @property
    def name(self):
        """The model's, of the file's name."""
        part = PART.fullmatch(Path(self.path).name)
        return part[1] if part else Path(self.path).stem

    def keys(self, schema, prefix=""):
        return keys_of(self.reader, self.path, schema, prefix)

    def forget(self):
        """The files are mapped: what has been copied need not stay in memory."""
        for reader in self.readers.values():
            reader.data._mmap.madvise(mmap.MADV_DONTNEED)

    def native(self, tensor, values):
        """Numbers of a tensor in this machine's byte order."""
        kind = tensor.tensor_type.name
        if self.reader.byte_order != "S" or kind in ("I8", "U8"):
            return values
        if kind == "BF16":  # bytes
            return np.ascontiguousarray(values.reshape(*values.shape[:-1], -1, 2)[..., ::-1]).reshape(values.shape)
        return values.astype(values.dtype.newbyteorder("="))

    def _general(self, path):
        return keys_of(self.readers[path], path, GgufFile)

    def _open_parts(self, path, count):
        number = self._general(path).get("split.no", 0) + 1
        part = PART.fullmatch(path)
        if not part or int(part[3]) != count or int(part[2]) != number:
            raise ImportFailure(f"{path}: is part {number} of {count} of a model (split.count); the others are "
                                f"looked for where its name ends with -{number:05}-of-{count:05}.gguf")
        opened = {}
        for i in range(1, count + 1):
            name = f"{part[1]}-{i:05}-of-{count:05}.gguf"
            if not Path(name).exists():
                raise ImportFailure(f"{path}: is part {number} of {count} of a model; {Path(name).name} is not "
                                    "beside it")
            opened[name] = self.readers.get(name) or _open(name)
            said = keys_of(opened[name], name, GgufFile)
            if (said.get("split.no", 0) + 1, said.get("split.count")) != (i, count):
                raise ImportFailure(f"{name}: says that it is part {said.get('split.no', 0) + 1} of "
                                    f"{said.get('split.count', 1)} (split.no, split.count)")
        self.readers = opened

    @staticmethod
    def _check(path, reader):
        """Types that nobody can widen are refused before anything is written."""
        for tensor in reader.tensors:
            kind = tensor.tensor_type
            if kind.name in ("F32", "F16", "BF16"):
                continue
            if reader.byte_order == "S":
                raise ImportFailure(f"{path}: the tensor {tensor.name} has the type {kind.name}; supported in a "
                                    "file of the other byte order (big-endian) are F32, F16 and BF16")
            if not _widens(kind):
                raise ImportFailure(f"{path}: the tensor {tensor.name} has the type {kind.name}, which the gguf "
                                    "package cannot dequantise")


def _widens(kind):
    try:
        gguf.dequantize(np.zeros((1, gguf.GGML_QUANT_SIZES[kind][1]), np.uint8), kind)
    except NotImplementedError:
        return False
    return True
