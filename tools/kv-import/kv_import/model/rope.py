"""The table of the rotary embedding: (cos, sin) of every position and frequency."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rope:
    """Frequency i is theta^(-2i / width) / factors[i] / linear."""

    theta: float
    factors: tuple | None = None  # one per pair
    long_factors: tuple | None = None  # those of a table of more than `original` positions
    original: int | None = None
    linear: float = 1.0
    scale: float = 1.0  # of cos and sin

    def table(self, positions, width):
        """f32 [positions, width]; row p holds the pairs (cos, sin) of its angles.
        Everything is computed in double and rounded once at the end."""
        frequency = self.theta ** (-np.arange(0, width, 2, dtype=np.float64) / width)
        long = self.long_factors is not None and positions > self.original
        factors = self.long_factors if long else self.factors
        if factors is not None:
            frequency = frequency / np.asarray(factors, dtype=np.float64)
        angle = np.outer(np.arange(positions, dtype=np.float64), frequency / self.linear)
        pairs = np.stack([np.cos(angle), np.sin(angle)], axis=-1) * self.scale
        return pairs.reshape(positions, width).astype(np.float32)


def llama3_factors(theta, width, factor, low, high, original):
    """The divisors of "llama3" scaling: long wavelengths are stretched by `factor`, short
    ones are kept, those between are blended. Formula: Hugging Face transformers,
    `_compute_llama3_parameters`; rounded to f32, as the tensor rope_freqs of a GGUF is."""
    out = []
    for i in range(0, width, 2):
        wavelength = 2 * math.pi * theta ** (i / width)
        if wavelength < original / high:
            out.append(1.0)
        elif wavelength > original / low:
            out.append(float(factor))
        else:
            smooth = (original / wavelength - low) / (high - low)
            out.append(1 / ((1 - smooth) / factor + smooth))
    return tuple(float(np.float32(v)) for v in out)


def yarn_factors(theta, width, factor, original, beta_fast=32.0, beta_slow=1.0, truncate=True):
    """The divisors of "yarn" scaling: pairs that turn `beta_fast` times or more within `original`
    positions are kept, those that turn `beta_slow` times or less are stretched by `factor`, those
    between are blended along their index. Formula: Hugging Face transformers,
    `_compute_yarn_parameters`."""
    def pair_of(turns):
        return width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair_of(beta_fast), pair_of(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    out = []
    for i in range(width // 2):
        stretched = min(max((i - low) / ((high - low) or 0.001), 0), 1)
        out.append(1 / (stretched / factor + 1 - stretched))
    return tuple(out)


def longrope_scale(factor, original):
    """Of cos and sin where nothing else is said, rounded to f32, as a GGUF file has it. Formula:
    the same source, `_compute_longrope_parameters`."""
    return float(np.float32(math.sqrt(1 + math.log(factor) / math.log(original)))) \
        if factor > 1 else 1.0


def yarn_scale(factor, slope=1.0):
    """Of cos and sin where nothing else is said; the same source."""
    return 0.1 * slope * math.log(factor) + 1 if factor > 1 else 1.0
