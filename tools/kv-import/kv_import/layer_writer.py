"""The function of one transformer layer."""

from .module_types import number

# The function that multiplies the MLP's gate, through its activation, with what goes up.
GATED = {"silu": "silu_mul", "gelu_tanh": "gelu_tanh_mul"}


class LayerWriter:
    """The function `name` of layers like `first`, whose queries see `window` tokens (None: all)
    in `cache`."""

    def __init__(self, types, name, cache, window, first):
        self.types, self.name, self.cache, self.window = types, name, cache, window
        self.config = types.config
        self.weights = {w.argument.partition("_")[2]: w for w in types.config.layer_weights(first)}
        self.freqs = types.weight_type(types.config.freqs(first))
        self.lines = []

    def text(self):
        c, types = self.config, self.types
        kv = "!" + types.cache_name(self.cache)
        x = types.rows(c.hidden)
        self._emit("%c0 = arith.constant 0 : index")
        self._emit(f"%rows = tensor.dim %x, %c0 : {x}")
        self._attention(kv)
        self._residual("middle", "x", "attended", "attn_out_norm")
        self._mlp()
        self._residual("y", "middle", "d", "mlp_out_norm")
        self._emit(f"return %y : {x}")
        body = "\n".join(self.lines)
        signature = ",\n      ".join([
            f"%x: {x}, %kv: {kv}, %layer: index",
            f"%row_offsets: tensor<?xi32>, %positions: tensor<?xi32>, %freqs: {self.freqs}",
            *(f"%{argument}: {types.weight_type(w)}" for argument, w in self.weights.items())])
        sees = f", whose queries see {self.window} tokens" if self.name == "layer_sliding" else ""
        return f"""\
  // One transformer layer{sees}.
  func.func private @{self.name}(
      {signature})
      -> {x} {{
{body}
  }}"""

    def _attention(self, kv):
        c, types = self.config, self.types
        q, k_or_v = types.rows(types.q_width), types.rows(types.kv_width)
        q3, kv3 = types.rows(c.heads, c.head_dim), types.rows(c.kv_heads, c.head_dim)
        mask = f"sliding = {self.window}" if self.window else "causal"
        normalise = "normalise, " if "attn_norm" in self.weights else ""
        self._part(f"Attention: {normalise}project, split into heads, rotate, store, attend.")
        h = self._norm("h", "x", "attn_norm")
        self._linear("q", h, "wq", "q_proj")
        self._linear("k", h, "wk", "k_proj")
        self._linear("v", h, "wv", "v_proj")
        query, key = "q", "k"
        if c.qk_norm == "row":
            self._say("Queries and keys are normalised as whole rows.")
            query, key = self._row_norm("q", types.q_width), self._row_norm("k", types.kv_width)
        self._heads("q_heads", query, c.heads, q, q3)
        self._heads("k_heads", key, c.kv_heads, k_or_v, kv3)
        self._heads("v_heads", "v", c.kv_heads, k_or_v, kv3)
        query, key = "q_heads", "k_heads"
        if c.qk_norm == "head":
            self._say("Query and key heads are normalised before the rotation.")
            self._head_norm("q_scaled", query, "q_norm", c.heads, q3)
            self._head_norm("k_scaled", key, "k_norm", c.kv_heads, kv3)
            query, key = "q_scaled", "k_scaled"
        self._rope("q_rope", query, q3)
        self._rope("k_rope", key, kv3)
        self._emit(f"kv.store %k_rope, %v_heads into %kv[%layer] rows %row_offsets\n"
                   f"    : {kv3}, {kv3} into {kv}, tensor<?xi32>")
        cap = f" softcap {number(c.attention_cap)}" if c.attention_cap else ""
        self._emit(f"%o_heads = kv.attention %q_rope in %kv[%layer] rows %row_offsets "
                   f"mask <{mask}> scale {number(c.score_scale)}{cap}\n"
                   f"    : {q3} in {kv}, tensor<?xi32> -> {q3}")
        self._emit(f"%o = tensor.collapse_shape %o_heads [[0], [1, 2]] : {q3} into {q}")
        self._linear("attended", "o", "wo", "o_proj")

    def _mlp(self):
        c = self.config
        self._part(f"MLP: down({c.activation.partition('_')[0]}(gate) * up).")
        m = self._norm("m", "middle", "mlp_norm")
        self._linear("g", m, "gate")
        self._linear("u", m, "up")
        wide = self.types.rows(c.intermediate)
        self._emit(f"%a = call @{GATED[c.activation]}(%g, %u) : ({wide}, {wide}) -> {wide}")
        self._linear("d", "a", "down")

    # Lines of the function.

    def _say(self, text):
        self.lines.append(f"    // {text}")

    def _part(self, text):
        self.lines.append("")
        self._say(text)

    def _emit(self, text):
        self.lines.append("    " + text.replace("\n", "\n    "))

    def _linear(self, result, operand, weight, projection=None):
        """%result = operand * weight (+ bias)."""
        types, found = self.types, self.weights[weight]
        rows, columns = found.shape
        y, format_ = types.rows(rows), types.formats.get(found.name)
        biased = projection in self.config.biases
        product = f"{result}_product" if biased else result
        self._emit(f"%{product} = call {types.linear_name(rows, columns, format_)}(%{operand}, "
                   f"%{weight})\n    : ({types.rows(columns)}, "
                   f"{types.matrix(rows, columns, format_)}) -> {y}")
        if biased:
            self._emit(f"%{result} = call @add_bias_{rows}(%{product}, %b{weight[1:]})\n"
                       f"    : ({y}, tensor<{rows}xf32>) -> {y}")

    def _norm(self, result, operand, weight):
        """The name of the normalised operand: itself where the layer has no such norm."""
        if weight not in self.weights:
            return operand
        width = self.config.hidden
        x = self.types.rows(width)
        self._emit(f"%{result} = call @rms_norm(%{operand}, %{weight}) : "
                   f"({x}, tensor<{width}xf32>) -> {x}")
        return result

    def _residual(self, result, residual, new, weight):
        x = self.types.rows(self.config.hidden)
        new = self._norm(f"{new}_normal", new, weight)
        self._emit(f"%{result} = call @add(%{residual}, %{new}) : ({x}, {x}) -> {x}")

    def _row_norm(self, operand, width):
        x = self.types.rows(width)
        self._emit(f"%{operand}_normal = call @rms_norm_{width}(%{operand}, %{operand}_norm)\n"
                   f"    : ({x}, tensor<{width}xf32>) -> {x}")
        return f"{operand}_normal"

    def _heads(self, result, operand, count, flat, shaped):
        self._emit(f"%{result} = tensor.expand_shape %{operand} [[0], [1, 2]] "
                   f"output_shape [%rows, {count}, {self.config.head_dim}]\n"
                   f"    : {flat} into {shaped}")

    def _head_norm(self, result, operand, weight, count, shaped):
        width = self.config.head_dim
        rows = self.types.rows(width)
        self._emit(f"%{operand}_flat = tensor.collapse_shape %{operand} [[0, 1], [2]] : "
                   f"{shaped} into {rows}")
        self._emit(f"%{operand}_normal = call @head_norm(%{operand}_flat, %{weight})\n"
                   f"    : ({rows}, tensor<{width}xf32>) -> {rows}")
        self._emit(f"%{result} = tensor.expand_shape %{operand}_normal [[0, 1], [2]] "
                   f"output_shape [%rows, {count}, {width}]\n    : {rows} into {shaped}")

    def _rope(self, result, operand, shaped):
        self._emit(f"%{result} = kv.rope %{operand}, %positions, %freqs\n"
                   f"    : {shaped}, tensor<?xi32>, {self.freqs}")
