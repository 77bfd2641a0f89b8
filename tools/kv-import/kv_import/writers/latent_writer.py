"""The attention of a layer over a latent cache, and the functions that it calls."""

from ..model import latent
from .module_types import number

MAPS = """
// The product of each head h with its weight: out[t, h, n] = sum over k of x[t, h, k] * w[h, n, k].
#head_x = affine_map<(t, h, n, k) -> (t, h, k)>
#head_w = affine_map<(t, h, n, k) -> (h, n, k)>
#head_out = affine_map<(t, h, n, k) -> (t, h, n)>
"""


def write_attention(layer, kv):
    """Emits it into a LayerWriter: %attended from %x."""
    c, types, emit = layer.config, layer.types, layer.emit
    it, heads = c.latent, c.heads
    q3, row3 = types.rows(heads, c.head_dim), types.rows(1, it.row)
    layer.part("Attention over latents: each token has one row, its latent and a rotated key that all "
               "heads share.")
    h = layer.norm("h", "x", "attn_norm")
    if it.query_rank:
        layer.linear("q_a", h, "wq_a", "q_a_proj")
        _norm(layer, "q_a", it.query_rank)
        layer.linear("q", "q_a_normal", "wq_b", "q_b_proj")
    else:
        layer.linear("q", h, "wq", "q_proj")
    layer.heads("q_heads", "q", heads, types.rows(types.q_width), q3)
    layer.linear("c", h, "wkv_a", "kv_a_proj_with_mqa")
    flat = types.rows(it.row)
    emit(f"%latent = tensor.extract_slice %c[0, 0] [%rows, {it.rank}] [1, 1]\n"
         f"    : {flat} to {types.rows(it.rank)}")
    emit(f"%kv_a_normal = call @rms_norm_latent_{it.rank}(%latent, %kv_a_norm)\n"
         f"    : ({types.rows(it.rank)}, tensor<{it.rank}xf32>) -> {types.rows(it.rank)}")
    emit(f"%c_head = tensor.expand_shape %c [[0], [1, 2]] output_shape [%rows, 1, {it.row}]\n"
         f"    : {flat} into {row3}")
    _rotated(layer, "k_turn", "c_head", 1, it.rank, row3)
    _joined(layer, "row", ("kv_a_normal", types.rows(it.rank)), "k_turn_rope", 1)
    emit(f"kv.store %row into %kv[%layer] rows %row_offsets\n    : {row3} into {kv}, tensor<?xi32>")
    layer.say("Queries go down to the latent's width; what they find there goes up again.")
    emit(f"%q_plain = tensor.extract_slice %q_heads[0, 0, 0] [%rows, {heads}, {it.plain}] [1, 1, 1]\n"
         f"    : {q3} to {types.rows(heads, it.plain)}")
    _product(layer, "q_down", "q_plain", "k_up")
    _rotated(layer, "q_turn", "q_heads", heads, it.plain, q3)
    _joined(layer, "q_row", ("q_down", types.rows(heads, it.rank)), "q_turn_rope", heads)
    out = types.rows(heads, it.rank)
    emit(f"%o_latent = kv.attention %q_row in %kv[%layer] rows %row_offsets mask <causal> "
         f"scale {number(c.score_scale)}\n"
         f"    : {types.rows(heads, it.row)} in {kv}, tensor<?xi32> -> {out}")
    _product(layer, "o_heads", "o_latent", "v_up")
    width = heads * it.value
    emit(f"%o = tensor.collapse_shape %o_heads [[0], [1, 2]] : "
         f"{types.rows(heads, it.value)} into {types.rows(width)}")
    layer.linear("attended", "o", "wo", "o_proj")


def _norm(layer, operand, width):
    x = layer.types.rows(width)
    layer.emit(f"%{operand}_normal = call @rms_norm_latent_{width}(%{operand}, %{operand}_norm)\n"
               f"    : ({x}, tensor<{width}xf32>) -> {x}")


def _rotated(layer, result, operand, heads, begin, operand_type):
    """%result_rope: the last elements of a head of `operand`, turned."""
    width = layer.config.latent.rotary
    x = layer.types.rows(heads, width)
    layer.emit(f"%{result} = tensor.extract_slice %{operand}[0, 0, {begin}] [%rows, {heads}, {width}] "
               f"[1, 1, 1]\n    : {operand_type} to {x}")
    interleaved = " interleaved" if layer.config.latent.interleaved else ""
    layer.emit(f"%{result}_rope = kv.rope %{result}, %positions, %freqs{interleaved}\n"
               f"    : {x}, tensor<?xi32>, {layer.freqs}")


def _joined(layer, result, first, second, heads):
    """A row: what goes down or is the latent, then what is rotated."""
    it, types = layer.config.latent, layer.types
    name, first_type = first
    whole = types.rows(heads, it.row)
    layer.emit(f"%{result}_empty = tensor.empty(%rows) : {whole}")
    layer.emit(f"%{result}_begun = tensor.insert_slice %{name} into %{result}_empty[0, 0, 0] "
               f"[%rows, {heads}, {it.rank}] [1, 1, 1]\n    : {first_type} into {whole}")
    layer.emit(f"%{result} = tensor.insert_slice %{second} into %{result}_begun[0, 0, {it.rank}] "
               f"[%rows, {heads}, {it.rotary}] [1, 1, 1]\n"
               f"    : {types.rows(heads, it.rotary)} into {whole}")


def _product(layer, result, operand, weight):
    types, found = layer.types, layer.weights[weight]
    heads, rows, columns = found.shape
    layer.emit(f"%{result} = call @heads_{rows}x{columns}(%{operand}, %{weight})\n"
               f"    : ({types.rows(heads, columns)}, {types.weight_type(found)}) -> "
               f"{types.rows(heads, rows)}")


def functions(helpers):
    """The text of the functions, by HelperFunctions."""
    c = helpers.config
    it = c.latent
    widths = dict.fromkeys(w for w in (it.query_rank, it.rank) if w)
    out = [helpers.rms_norm(f"rms_norm_latent_{width}", width, latent.EPS) for width in widths]
    shapes = dict.fromkeys(w.shape for w in c.layer_weights(0) if w.role == "heads")
    return out + [_head_product(helpers.types, *shape) for shape in shapes]


def _head_product(types, heads, rows, columns):
    x, y = types.rows(heads, columns), types.rows(heads, rows)
    element = types.dtype
    w = f"tensor<{heads}x{rows}x{columns}x{element}>"
    widen = "" if element == "f32" else f"      %wide = arith.extf %weight : {element} to f32\n"
    value = "%weight" if element == "f32" else "%wide"
    return f"""\
  // {columns} -> {rows} in each head.
  func.func private @heads_{rows}x{columns}(%x: {x}, %w: {w}) -> {y} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {y}
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : {y}) -> {y}
    %y = linalg.generic {{indexing_maps = [#head_x, #head_w, #head_out],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
        ins(%x, %w : {x}, {w}) outs(%zeros : {y}) {{
    ^bb0(%value: f32, %weight: {element}, %sum: f32):
{widen}      %product = arith.mulf %value, {value} : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
    }} -> {y}
    return %y : {y}
  }}"""
