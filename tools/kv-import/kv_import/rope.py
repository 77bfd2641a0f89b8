"""The table of the rotary embedding: (cos, sin) of every position and frequency."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rope:
    """Frequency i is theta^(-2i / width) / factors[i] / linear."""

    theta: float
    factors: tuple | None = None  # one per pair, f32 values, as GGUF stores them
    linear: float = 1.0

    def table(self, positions, width):
        """f32 [positions, width]; row p holds the pairs (cos, sin) of its angles.
        Everything is computed in double and rounded once at the end."""
        frequency = self.theta ** (-np.arange(0, width, 2, dtype=np.float64) / width)
        if self.factors is not None:
            frequency = frequency / np.asarray(self.factors, dtype=np.float64)
        angle = np.outer(np.arange(positions, dtype=np.float64), frequency / self.linear)
        return np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(
            positions, width).astype(np.float32)


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
