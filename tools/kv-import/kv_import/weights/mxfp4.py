"""MXFP4, as the folders of gpt-oss hold their experts: 16 bytes of 32 elements of 4 bits, the even
ones in the low halves, which share a power of two (OCP Microscaling Formats 1.0)."""

import numpy as np

from ..model.errors import ImportFailure

GROUP = 32
# Twice the value of an element: sign, two bits of exponent, one of mantissa.
_DOUBLED = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], dtype=np.int8)


def doubled(blocks):
    """u8 [..., K / 32, 16] as i8 [..., K / 32, 32]: twice the elements, without their scale."""
    return np.stack([_DOUBLED[blocks & 15], _DOUBLED[blocks >> 4]], axis=-1).reshape(
        *blocks.shape[:-1], GROUP)


def values(blocks, scales):
    """f32 [N, K]; exact."""
    powers = np.ldexp(np.float32(1), scales.astype(np.int32) - 128)
    out = doubled(blocks).astype(np.float32) * powers[..., None]
    return out.reshape(len(blocks), -1)


def as_q8_0(blocks, scales, where):
    """The same numbers as blocks of q8_0, u8 [N, bytes of a row]: a scale of f16, then i8. `where`
    names the tensor in a message."""
    integers = doubled(blocks)
    exponents = scales.astype(np.int32) - 128
    # Of what is all zero, any power will do.
    exponents[~integers.any(axis=-1)] = 0
    if exponents.min() < -24 or exponents.max() > 15:
        raise ImportFailure(f"{where} holds powers of two that blocks of q8_0 have not; "
                            "--weights dense takes it")
    halves = np.ldexp(np.float32(1), exponents).astype(np.float16)[..., None]
    return np.concatenate([halves.view(np.uint8), integers.view(np.uint8)], axis=-1).reshape(
        len(blocks), -1)
