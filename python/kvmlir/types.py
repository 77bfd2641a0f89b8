"""Element types, devices, and the types of a graph's arguments."""

import dataclasses
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _kvmlir

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]


class DType(enum.Enum):
    """An element type. The value is MLIR's spelling."""

    float32 = "f32"
    float16 = "f16"
    bfloat16 = "bf16"
    float8_e4m3fn = "f8E4M3FN"
    float8_e5m2 = "f8E5M2"
    float8_e8m0fnu = "f8E8M0FNU"
    int8 = "i8"
    int32 = "i32"
    int64 = "i64"

    @property
    def code(self) -> int:
        """The number by which artifacts and the C interface know the type."""
        return int(_kvmlir.DTYPES[self.value][0])

    @property
    def size_in_bytes(self) -> int:
        return int(_kvmlir.DTYPES[self.value][1])

    @classmethod
    def of(cls, given: "DTypeLike") -> "DType":
        """From a DType, a name ("bfloat16", "bf16"), or numpy's or torch's type."""
        if isinstance(given, cls):
            return given
        name = given if isinstance(given, str) else getattr(given, "name", None) or (
            getattr(given, "__name__", None) or str(given).removeprefix("torch."))
        for one in cls:
            if name in (one.name, one.value):
                return one
        raise ValueError(f"dtype is {given!r}, allowed: {', '.join(one.name for one in cls)}")


DTypeLike = Union[DType, str, object]
DTYPES = {one.code: one for one in DType}


@dataclasses.dataclass(frozen=True)
class Device:
    """A device by its name: "cpu:0", "cuda:1", or "virtual:TARGET", which has no memory and stands
    for a target to compile for ("virtual:sm_90a", "virtual:x86-64-v4")."""

    name: str

    @classmethod
    def of(cls, given: "DeviceLike") -> "Device":
        """From a Device or a name. Raises ValueError."""
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(given if ":" in given else given + ":0")
        raise ValueError(f'the device is {given!r}, allowed: a Device, or a name like "cpu:0", '
                         '"cuda:0", "virtual:sm_90a"')

    @classmethod
    def CPU(cls, id: int = 0) -> "Device":
        """A part of the host: each number is a device of its own."""
        return cls(f"cpu:{id}")

    @classmethod
    def GPU(cls, id: int = 0) -> "Device":
        """The GPU of this number."""
        return cls(f"cuda:{id}")

    @classmethod
    def virtual(cls, target: str) -> "Device":
        """A device without memory, to compile for TARGET."""
        return cls(f"virtual:{target}")

    @property
    def kind(self) -> str:
        """"cpu", "cuda" or "virtual"."""
        return self.name.split(":")[0]

    @property
    def is_virtual(self) -> bool:
        """Whether it has no memory."""
        return self.kind == "virtual"

    @property
    def id(self) -> int:
        """The number in the name; 0 where there is none."""
        last = self.name.split(":")[-1]
        return int(last) if last.isdigit() else 0

    def __str__(self) -> str:
        return self.name


DeviceLike = Union[Device, str]
DeviceRef = Device


def CPU(id: int = 0) -> Device:
    """The host's memory; each number is a device of its own."""
    return Device.CPU(id)


def Accelerator(id: int = 0) -> Device:
    """A GPU."""
    return Device.GPU(id)


def device_names(devices: Union[Sequence[DeviceLike], DeviceLike, None]) -> list[str]:
    if devices is None:
        return []
    if isinstance(devices, (str, Device)):
        devices = [devices]
    return [Device.of(one).name for one in devices]


Dim = Union[int, str]


@dataclasses.dataclass(frozen=True)
class TensorType:
    """A graph's tensor: sizes are numbers or the names of sizes that are known at run time. Equal
    names of one entry are equal sizes."""

    dtype: DType
    shape: tuple[Dim, ...]
    device: Device = Device("cpu:0")
    name: str = ""

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class BufferType(TensorType):
    """A tensor that the graph writes to."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of an entry."""

    name: str
    kind: str  # "input", "weight", "output", "kv.blocks", ...
    dtype: DType
    on_host: bool  # whether it lies in host memory on any device
    shape: tuple[Dim, ...]
    collection: Union[str, None]  # the cache's name, of a kv.* argument
    layout: Union[str, None]  # of a weight

    @classmethod
    def read(cls, given: tuple[Any, ...]) -> "Argument":
        """From the tuple that the extension makes."""
        name, kind, code, on_host, shape, collection, layout = given
        return cls(name, kind, DTYPES[code], on_host, shape, collection, layout)
