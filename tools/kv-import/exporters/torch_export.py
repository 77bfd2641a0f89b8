"""A Hugging Face model to a cache-less graph: MLIR text and a weights file.

    python torch_export.py MODEL_FOLDER -o DIR [--name NAME] [--max-seq N]

Writes DIR/graph.mlir, generic MLIR on builtin tensors with one operation "tm_tensor.attention" a
layer, whose weights are arguments with the attribute kv.weight, and DIR/weights.safetensors with the
tensors of those names. Runs in an environment with torch.txt installed (kv-import makes one)."""

import argparse
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM

LEGAL = ["aten.scaled_dot_product_attention"]


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


class Logits(torch.nn.Module):
    """ids i64 [1, T] and the weights to logits f32 [1, T, vocab]; nothing is kept between calls."""

    def __init__(self, model, weights):
        super().__init__()
        # Not as a submodule: its tensors are arguments, and so keep their names.
        self.__dict__["model"] = model
        self.__dict__["names"] = list(weights)

    def forward(self, ids, *weights):
        # A mask of ones keeps transformers from looking for packed sequences in the positions.
        ones = torch.ones_like(ids)
        call = dict(input_ids=ids, attention_mask=ones, use_cache=False)
        done = torch.func.functional_call(self.model, dict(zip(self.names, weights)), (), call)
        return done.logits.float()


def tensors_of(model):
    """Name -> tensor of parameters and buffers, tied ones once."""
    found, seen = {}, set()
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if id(tensor) not in seen and tensor.is_floating_point():
            seen.add(id(tensor))
            found[name] = tensor.detach()
    return found


def to_linalg(model, max_seq):
    """(MLIR module on builtin tensors, name -> weight in the order of its arguments)."""
    AttentionInterface.register("kv", attention)
    AttentionMaskInterface.register("kv", plain_mask)
    model.set_attn_implementation("kv")
    for module in model.modules():
        module._non_persistent_buffers_set.clear()
    weights = tensors_of(model)
    length = torch.export.Dim("T", min=2, max=max_seq)
    with torch.no_grad():
        program = torch.export.export(
            Logits(model, weights), (torch.zeros((1, 8), dtype=torch.int64), *weights.values()),
            strict=False, dynamic_shapes=({1: length}, (None,) * len(weights)))
    table = get_decomposition_table()
    for op in [op for op in table if "scaled_dot" in str(op)]:
        table.pop(op)
    module = fx.export_and_import(program, output_type="linalg-on-tensors",
                                  decomposition_table=table, backend_legal_ops=LEGAL)
    return module, weights


def write(module, weights, config, name, max_seq, folder):
    from torch_mlir import ir
    with module.context:
        function = module.body.operations[len(module.body.operations) - 1]
        marks = [ir.DictAttr.get({"kv.name": ir.StringAttr.get("tokens")})]
        marks += [ir.DictAttr.get({"kv.weight": ir.StringAttr.get(each)}) for each in weights]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
        function.attributes["sym_name"] = ir.StringAttr.get("forward")
        i64 = ir.IntegerType.get_signless(64)
        module.operation.attributes["kv.model"] = ir.DictAttr.get({
            "name": ir.StringAttr.get(name),
            "architecture": ir.StringAttr.get(config.model_type),
            "max_seq_len": ir.IntegerAttr.get(i64, max_seq),
            "vocab_size": ir.IntegerAttr.get(i64, config.vocab_size)})
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "graph.mlir", "w", encoding="utf-8") as file:
        file.write(module.operation.get_asm(print_generic_op_form=True))
    save_file({each: tensor.contiguous().clone() for each, tensor in weights.items()},
              folder / "weights.safetensors")


def export(model, folder, name, max_seq=None):
    config = model.config.get_text_config()
    max_seq = max_seq or getattr(config, "max_position_embeddings", 2048)
    module, weights = to_linalg(model, max_seq)
    write(module, weights, config, name, max_seq, Path(folder))


def main():
    parser = argparse.ArgumentParser(prog="torch_export.py", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--name", help="the model's name (default: the folder's)")
    parser.add_argument("--max-seq", type=int)
    options = parser.parse_args()
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32).eval()
    export(model, options.output, options.name or Path(options.model).name, options.max_seq)
    return 0


if __name__ == "__main__":
    sys.exit(main())
