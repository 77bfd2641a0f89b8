"""Small decoders in PyTorch without transformers, exported by torch.onnx with a dynamic length: what
kv-import --from onnx is tried on. Run by scripts/check-raise.sh onnx.

MODELS: name -> class of a module tokens [1, T] -> logits [1, T, VOCAB]."""

import functools
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

VOCAB, WIDTH, HEADS, DIM, LAYERS, MAX = 32, 32, 4, 8, 2, 64


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotated(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([x, x], -1)[..., :DIM] * cos + torch.cat([-b, a], -1) * sin


class LlamaLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(), RMSNorm()
        self.q, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(WIDTH, 2 * DIM, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(WIDTH, 48, bias=False) for _ in range(2))
        self.down = nn.Linear(48, WIDTH, bias=False)

    def forward(self, x, cos, sin, shown):
        y = self.norm1(x)
        q, k, v = (linear(y).view(1, -1, heads, DIM).transpose(1, 2)
                   for linear, heads in ((self.q, HEADS), (self.k, 2), (self.v, 2)))
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        scores = (q @ k.transpose(2, 3)) / math.sqrt(DIM)
        weights = scores.masked_fill(~shown, float("-inf")).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).reshape(1, -1, WIDTH))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """RMS norm, rotations, two KV heads, an infinite mask."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(LlamaLayer() for _ in range(LAYERS))
        self.norm, self.head = RMSNorm(), nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, tokens):
        t = torch.arange(tokens.shape[1])
        angles = t[:, None] * 10000.0 ** (-torch.arange(DIM // 2) / (DIM // 2))
        cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin, t[None, :] <= t[:, None])
        return self.head(self.norm(x))


class GPT2Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc, self.out = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, x, hidden):
        q, k, v = (each.view(1, -1, HEADS, DIM).transpose(1, 2)
                   for each in self.attn(self.ln_1(x)).chunk(3, -1))
        weights = ((q * DIM ** -0.5) @ k.transpose(2, 3) + hidden).softmax(-1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(1, -1, WIDTH))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    """Learned positions, biases, LayerNorm, a finite mask that is added, a tied head."""

    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(MAX, WIDTH)
        self.layers = nn.ModuleList(GPT2Layer() for _ in range(LAYERS))
        self.ln_f = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        t = torch.arange(tokens.shape[1])
        x = self.wte(tokens) + self.wpe(t)
        hidden = torch.where(t[None, :] > t[:, None], torch.finfo(torch.float32).min, 0.0)
        for layer in self.layers:
            x = layer(x, hidden)
        return self.ln_f(x) @ self.wte.weight.T


MODELS = {"llama": Llama, "gpt2": GPT2}


@functools.cache
def _model(name):
    torch.manual_seed(5)
    model = MODELS[name]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 1.5 / parameter.shape[-1] ** 0.5)
            else:
                parameter += 0.2 * torch.randn(parameter.shape)
    return model


def parameters(name):
    """The file has its weights."""


def write(name, weights, folder):
    path = folder / f"{name}.onnx"
    length = torch.export.Dim("T", min=2, max=MAX)
    torch.onnx.export(_model(name), (torch.zeros((1, 8), dtype=torch.int64),), str(path), dynamo=True,
                      input_names=["tokens"], output_names=["logits"], dynamic_shapes=({1: length},))
    return path


def logits(name, weights, prompt):
    """f32 [T, VOCAB]: the model by PyTorch itself."""
    with torch.no_grad():
        return _model(name)(torch.tensor([prompt]))[0].numpy().astype(np.float32)
