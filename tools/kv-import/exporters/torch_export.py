"""A Hugging Face model to a cache-less graph: MLIR text and a weights file.

    python torch_export.py MODEL_FOLDER -o DIR [--name NAME] [--max-seq N]

Writes DIR/graph.mlir, generic MLIR on builtin tensors with one operation "tm_tensor.attention" a
layer, whose weights are arguments with the attribute kv.weight, and DIR/weights.safetensors with the
tensors of those names. Runs in an environment with torch.txt installed (kv-import makes one)."""

import argparse
import collections
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
import transformers
from transformers import (AttentionInterface, AttentionMaskInterface, AutoConfig, AutoModelForCausalLM,
                          AutoModelForImageTextToText)
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

import torch_forwards
from torch_linalg import exported, lowered, write


def attention(module, query, key, value, mask, scaling=None, dropout=0.0, softcap=None, s_aux=None,
              **more):
    """What a model calls: [1, heads, T, dim] each, mask i1 [1, 1, T, T]."""
    if softcap is not None or s_aux is not None:
        return spelled_out(query, key, value, mask, scaling, softcap, s_aux)
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = repeated(key, groups), repeated(value, groups)
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scaling)
    return out.transpose(1, 2).contiguous(), None


def repeated(heads, groups):
    """Each of the KV heads once for every query head that reads it."""
    one, count, length, dim = heads.shape
    wide = heads[:, :, None].expand(one, count, groups, length, dim)
    return wide.reshape(one, count * groups, length, dim)


def spelled_out(query, key, value, mask, scaling, softcap, sinks):
    """What the operation cannot say: a cap of scores, or one more logit a head."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = repeated(key, groups), repeated(value, groups)
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    if sinks is None:
        weights = torch.softmax(scores, -1)
    else:
        sink = sinks.reshape(1, -1, 1, 1).expand(1, -1, scores.shape[2], 1)
        weights = torch.softmax(torch.cat([scores, sink], -1), -1)[..., :-1]
    return torch.matmul(weights, value).transpose(1, 2).contiguous(), None


def plain_mask(batch_size, q_length, kv_length, q_offset=0, kv_offset=0, mask_function=None,
               device="cpu", **more):
    """The model's own mask function on all (query, key) positions, with nothing for padding: one
    sequence has none."""
    rows = torch.arange(q_length, device=device)[None, None, :, None]
    keys = torch.arange(kv_length, device=device)[None, None, None, :]
    zero = torch.zeros((), dtype=torch.int64, device=device)
    return mask_function(zero, zero, rows, keys)


def experts(self, hidden, chosen, shares):
    """What a block of experts calls: rows [T, H] and, of each, the numbers and shares [T, choices] of
    its experts. Each row by itself, with the matrices that it has chosen."""
    def product(rows, name):
        matrices = getattr(self, name)[chosen]
        if self.is_transposed:
            out = (rows[..., :, None] * matrices).sum(-2)
        else:
            out = (rows[..., None, :] * matrices).sum(-1)
        return out + getattr(self, name + "_bias")[chosen] if self.has_bias else out

    rows = hidden[:, None, :]
    if self.has_gate:
        inner = self._apply_gate(product(rows, "gate_up_proj"))
    else:
        inner = self.act_fn(product(rows, "up_proj"))
    out = product(inner, "down_proj")
    if self.has_post_expert_norm:
        out = self.post_expert_norm(out)
    return (out * shares[..., None]).sum(1).to(hidden.dtype)


Pair = collections.namedtuple("Pair", ("real", "imaginary"))


class RealPairs(torch.fx.Interpreter):
    """Runs a graph with each complex tensor as a Pair."""

    aten = torch.ops.aten

    def call_function(self, target, args, kwargs):
        aten = torch.ops.aten
        if target is aten.polar.default:
            return Pair(args[0] * torch.cos(args[1]), args[0] * torch.sin(args[1]))
        if target is aten.view_as_complex.default:
            return Pair(args[0][..., 0], args[0][..., 1])
        if not any(isinstance(each, Pair) for each in args):
            return super().call_function(target, args, kwargs)
        if target is aten._assert_tensor_metadata.default:
            return None
        if target is aten.view_as_real.default:
            return torch.stack(tuple(args[0]), -1)
        if target is aten.mul.Tensor:
            a, b = args
            if not isinstance(a, Pair) or not isinstance(b, Pair):
                pair, factor = (a, b) if isinstance(a, Pair) else (b, a)
                return Pair(pair.real * factor, pair.imaginary * factor)
            return Pair(a.real * b.real - a.imaginary * b.imaginary,
                        a.real * b.imaginary + a.imaginary * b.real)
        dtype = kwargs.get("dtype")
        if target in (aten._to_copy.default, aten.to.device, aten.to.dtype_layout) and (
                dtype is None or dtype.is_complex):
            return args[0]
        if target not in (aten.unsqueeze.default, aten.squeeze.dim, aten.transpose.int,
                          aten.permute.default, aten.view.default, aten.reshape.default,
                          aten.expand.default, aten.slice.Tensor, aten.select.int, aten.clone.default,
                          aten.contiguous.default, aten.alias.default):
            raise NotImplementedError(f"{target} of complex numbers")
        # What moves elements moves those of both parts.
        return Pair(*(super(RealPairs, self).call_function(target, (part, *args[1:]), kwargs)
                      for part in args[0]))


class Real(torch.nn.Module):
    """A graph without complex numbers."""

    def __init__(self, graph):
        super().__init__()
        self.__dict__["graph"] = graph

    def forward(self, ids, *weights):
        return RealPairs(self.graph).run(ids, *weights)


class Logits(torch.nn.Module):
    """ids i64 [1, T] and the weights to logits f32 [1, T, vocab], or those of the last token alone;
    nothing is kept between calls."""

    def __init__(self, model, weights, last=False):
        super().__init__()
        # Not as a submodule: its tensors are arguments, and so keep their names.
        self.__dict__["model"] = model
        self.__dict__["names"] = list(weights)
        self.__dict__["more"] = {"logits_to_keep": 1} if last else {}

    def forward(self, ids, *weights):
        # A mask of ones keeps transformers from looking for packed sequences in the positions.
        ones = torch.ones_like(ids)
        call = dict(input_ids=ids, attention_mask=ones, use_cache=False, **self.more)
        # Weights of 16 bits are widened: what is computed is f32.
        weights = dict(zip(self.names, (each.float() for each in weights)))
        done = torch.func.functional_call(self.model, weights, (), call)
        return done.logits.float()


def tensors_of(model):
    """Name -> tensor of parameters and buffers, tied ones once; without those of images."""
    found, seen = {}, set()
    if type(model.config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        of_text = [model.get_decoder(), model.get_output_embeddings()]
        ids = {id(tensor) for part in of_text for tensor in (*part.parameters(), *part.buffers())}
        seen = {id(tensor) for tensor in (*model.parameters(), *model.buffers())} - ids
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if id(tensor) not in seen and tensor.is_floating_point():
            seen.add(id(tensor))
            found[name] = tensor.detach()
    return found


def to_linalg(model, max_seq, fixed=None, last=False, narrow=False):
    """(MLIR module on builtin tensors, name -> weight in the order of its arguments, the most tokens)."""
    AttentionInterface.register("kv", attention)
    AttentionMaskInterface.register("kv", plain_mask)
    model.set_attn_implementation("kv")
    ALL_EXPERTS_FUNCTIONS.register("kv", experts)
    if model._can_set_experts_implementation():
        model.set_experts_implementation("kv")
    torch_forwards.replace(model)
    for module in model.modules():
        module._non_persistent_buffers_set.clear()
    weights = tensors_of(model)
    if narrow:
        weights = {name: tensor.bfloat16() if tensor.dim() > 1 else tensor
                   for name, tensor in weights.items()}
    program, max_seq = exported(Logits(model, weights, last), weights, max_seq, fixed)
    if any(isinstance(value := node.meta.get("val"), torch.Tensor) and value.is_complex()
           for node in program.graph.nodes):
        program, max_seq = exported(Real(program.module()), weights, max_seq, fixed)
    return lowered(program), weights, max_seq


def export(model, folder, name, max_seq=None, fixed=None, last=False, narrow=False):
    config = model.config.get_text_config()
    max_seq = max_seq or getattr(config, "max_position_embeddings", 2048)
    module, weights, max_seq = to_linalg(model, max_seq, fixed, last, narrow)
    write(module, weights, config.model_type, config.vocab_size, name, max_seq, Path(folder))


# Of layers, what is kept of the tokens before: kv-raise makes a cache of keys and values alone.
STATES = {"linear_attention": "a recurrent state", "conv": "the last rows of a convolution",
          "hybrid": "a recurrent state", "hybrid_sliding": "a recurrent state",
          "indexed_attention": "an index of the keys", "minimax_m3_sparse": "an index of the keys",
          "compressed_sparse_attention": "compressed keys", "heavily_compressed_attention": "compressed keys"}


REFUSED = 3  # the exit status, as in kv_import/graphs/exporters.py


class Refused(Exception):
    """Why a model is not exported, in one sentence."""


def check_layers(model):
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None) or ()
    kept = next((STATES[kind] for kind in kinds if kind in STATES), None)
    if kept is None and getattr(model, "_is_stateful", False):
        kept = "a recurrent state"
    if kept:
        raise Refused(f"some layers keep {kept}; layers of models that come through PyTorch may keep keys and values "
                      "only")


def text_model(folder):
    """The model in a folder; one of images and text is called with text alone."""
    kind = json.loads(Path(folder, "config.json").read_text(encoding="utf-8")).get("model_type")
    if kind not in CONFIG_MAPPING:
        raise Refused(f"transformers {transformers.__version__} has no model of the type {kind!r}; code in the "
                      "model's own repository is not run")
    config = AutoConfig.from_pretrained(folder)
    if type(config) in MODEL_FOR_CAUSAL_LM_MAPPING:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    if type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING:
        raise Refused(f"{config.model_type} is no model that transformers generates text with")
    return AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()


def sentence(error):
    """An exception and those that it was raised from, in one line."""
    texts = []
    while error is not None:
        # What torch.export adds to a message names no reason.
        text = str(error).partition("The error above occurred when calling torch.export")[0]
        texts.append(f"{type(error).__name__}: {' '.join(text.split())}")
        error = error.__cause__
    return "; from ".join(texts)


def main():
    parser = argparse.ArgumentParser(prog="torch_export.py", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--name", help="the model's name (default: the folder's)")
    parser.add_argument("--max-seq", type=int)
    parser.add_argument("--weights", choices=("f32", "bf16"), default="f32",
                        help="of matrices; what is computed is f32 (default: f32)")
    options = parser.parse_args()
    try:
        model = text_model(options.model)
        check_layers(model)
        export(model, options.output, options.name or Path(options.model).name, options.max_seq,
               narrow=options.weights == "bf16")
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return REFUSED
    except Exception as error:  # of transformers, torch or torch-mlir: whatever a model provokes
        return f"error: {sentence(error)}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
