"""Methods that compute what transformers' own do, and that can be exported: those scatter into rows, run every
expert, or call what torch-mlir does not know."""

import statistics
import types

import torch
import torch.nn.functional as F


def llama4_experts(self, hidden):
    """Llama4TextMoe: transformers runs every row through every expert, all but the chosen with zeros."""
    rows = hidden.reshape(-1, self.hidden_dim)
    logits = F.linear(rows, self.router.weight)
    scores, chosen = torch.topk(logits, self.top_k, dim=1)
    scaled = rows[:, None, :] * torch.sigmoid(scores)[..., None]
    of = self.experts
    gate, up = (scaled[..., :, None] * of.gate_up_proj[chosen]).sum(-2).chunk(2, dim=-1)
    out = ((up * of.act_fn(gate))[..., :, None] * of.down_proj[chosen]).sum(-2)
    return self.shared_expert(rows) + out.sum(1), logits


def phimoe_router(self, hidden):
    """PhimoeTopKRouter: of the two greatest logits each has its share among those that are near it, the second
    without the first."""
    logits = F.linear(hidden, self.weight)
    best, chosen = torch.topk(logits, 2, dim=-1)
    numbers = torch.arange(self.num_experts, device=logits.device)

    def share(one, without):
        greatest = best[:, one:one + 1]
        far = (greatest - logits) / torch.maximum(logits.abs(), greatest) > 2 * self.router_jitter_noise
        return 1 / torch.where(far | without, 0.0, torch.exp(logits - greatest)).sum(-1, keepdim=True)

    shares = share(0, torch.zeros_like(logits, dtype=torch.bool)), share(1, numbers == chosen[:, :1])
    return logits, torch.cat(shares, -1), chosen


def gemma3n_cut(self, inputs):
    """Gemma3nTextMLP: the share of a normal distribution that is cut is a number of the model."""
    deviations = statistics.NormalDist().inv_cdf(self.activation_sparsity)
    mean = inputs.mean(-1, keepdim=True)
    deviation = ((inputs - mean) ** 2).mean(-1, keepdim=True).sqrt()
    return F.relu(inputs - (mean + deviation * deviations))


# Class: the method, and what takes its place.
FORWARDS = {"Llama4TextMoe": ("forward", llama4_experts), "PhimoeTopKRouter": ("forward", phimoe_router),
            "Gemma3nTextMLP": ("_gaussian_topk", gemma3n_cut)}


def replace(model):
    for module in model.modules():
        method, function = FORWARDS.get(type(module).__name__, (None, None))
        if function:
            setattr(module, method, types.MethodType(function, module))
