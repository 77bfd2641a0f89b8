"""The function of one transformer layer."""

from . import latent_writer
from .module_types import number

# The function that multiplies the MLP's gate, through its activation, with what goes up.
GATED = {"silu": "silu_mul", "gelu_tanh": "gelu_tanh_mul", "clamped_swiglu": "clamped_swiglu"}


class LayerWriter:
    """The function `name` of layers like `first`, whose queries see `window` tokens (None: all)
    in `cache`."""

    def __init__(self, types, name, cache, window, first):
        self.types, self.name, self.cache, self.window = types, name, cache, window
        self.config = types.config
        self.mixture = types.config.mixture_of(first)
        self.weights = {w.argument.partition("_")[2]: w for w in types.config.layer_weights(first)}
        self.lines = []

    def text(self):
        c, types = self.config, self.types
        x = types.rows(c.hidden)
        self.emit("%c0 = arith.constant 0 : index")
        self.emit(f"%rows = tensor.dim %x, %c0 : {x}")
        self._mixer(self.cache)
        self._residual("middle", "x", "attended", "attn_out_norm")
        if self.mixture:
            self._experts_and_shared()
        else:
            self._mlp()
        self._residual("y", "middle", "d", "mlp_out_norm")
        self.emit(f"return %y : {x}")
        body = "\n".join(self.lines)
        signature = ",\n      ".join([
            *self._parameters(self.cache),
            *(f"%{argument}: {types.weight_type(w)}" for argument, w in self.weights.items())])
        return f"""\
  // {self._comment()}
  func.func private @{self.name}(
      {signature})
      -> {x} {{
{body}
  }}"""

    @property
    def freqs(self):
        return self.types.weight_type(self.config.freqs(self.cache.layers[0]))

    def _comment(self):
        sees = f", whose queries see {self.window} tokens" if self.name == "layer_sliding" else ""
        return f"One transformer layer{sees}."

    def _parameters(self, cache):
        types = self.types
        return [f"%x: {types.rows(self.config.hidden)}, %kv: !{types.cache_name(cache)}, "
                "%layer: index",
                "%row_offsets: tensor<?xi32>, %positions: tensor<?xi32>, "
                f"%freqs: {self.freqs}"]

    def _mixer(self, cache):
        """What ends with %attended: here attention."""
        c, types = self.config, self.types
        kv = "!" + types.cache_name(cache)
        if c.latent:
            latent_writer.write_attention(self, kv)
            return
        q, k_or_v = types.rows(types.q_width), types.rows(types.kv_width)
        q3, kv3 = types.rows(c.heads, c.head_dim), types.rows(c.kv_heads, c.head_dim)
        mask = f"sliding = {self.window}" if self.window else "causal"
        normalise = "normalise, " if "attn_norm" in self.weights else ""
        self.part(f"Attention: {normalise}project, split into heads, rotate, store, attend.")
        h = self.norm("h", "x", "attn_norm")
        self.linear("q", h, "wq", "q_proj")
        self.linear("k", h, "wk", "k_proj")
        self.linear("v", h, "wv", "v_proj")
        query, key = "q", "k"
        if c.qk_norm == "row":
            self.say("Queries and keys are normalised as whole rows.")
            query, key = self._row_norm("q", types.q_width), self._row_norm("k", types.kv_width)
        self.heads("q_heads", query, c.heads, q, q3)
        self.heads("k_heads", key, c.kv_heads, k_or_v, kv3)
        self.heads("v_heads", "v", c.kv_heads, k_or_v, kv3)
        query, key = self._turned("q_heads", "k_heads", q3, kv3)
        self.emit(f"kv.store %{key}, %v_heads into %kv[%layer] rows %row_offsets\n"
                   f"    : {kv3}, {kv3} into {kv}, tensor<?xi32>")
        cap = f" softcap {number(c.attention_cap)}" if c.attention_cap else ""
        products = f" products {types.products}" if types.products else ""
        sinks = " sinks %sinks" if c.sinks else ""
        sinks_type = f" sinks tensor<{c.heads}xf32>" if c.sinks else ""
        self.emit(f"%o_heads = kv.attention %{query} in %kv[%layer] rows %row_offsets{sinks} "
                   f"mask <{mask}> scale {number(c.score_scale)}{cap}"
                   f"{products}\n"
                   f"    : {q3} in {kv}, tensor<?xi32>{sinks_type} -> {q3}")
        self.emit(f"%o = tensor.collapse_shape %o_heads [[0], [1, 2]] : {q3} into {q}")
        last = "o"
        if c.gated_attention:
            self.linear("gate_rows", h, "wq_gate")
            self.emit(f"%gated = call @gate_sigmoid(%o, %gate_rows) : ({q}, {q}) -> {q}")
            last = "gated"
        self.linear("attended", last, "wo", "o_proj")

    def _turned(self, query, key, q3, kv3):
        """The names of rotated query and key heads, normalised where the model does that head by head."""
        c = self.config

        def normalise(when):
            nonlocal query, key
            if c.qk_norm != "head":
                return
            self.say(f"Query and key heads are normalised {when} the rotation.")
            self._head_norm("q_scaled", query, "q_norm", c.heads, q3)
            self._head_norm("k_scaled", key, "k_norm", c.kv_heads, kv3)
            query, key = "q_scaled", "k_scaled"

        if not c.norm_after_rope:
            normalise("before")
        self._rope("q_rope", query, q3)
        self._rope("k_rope", key, kv3)
        query, key = "q_rope", "k_rope"
        if c.norm_after_rope:
            normalise("after")
        return query, key

    def _mlp(self):
        c = self.config
        self.part(f"MLP: down({c.activation.partition('_')[0]}(gate) * up).")
        self._gated(self.norm("m", "middle", "mlp_norm"))

    def _gated(self, operand, prefix=""):
        """%<prefix>d from the weights that begin with `prefix`."""
        width = self.weights[f"{prefix}up"].shape[0]
        wide = self.types.rows(width)
        # That of experts has the plain name.
        suffix = f"_{width}" if self.config.mixture else ""
        self.linear(f"{prefix}g", operand, f"{prefix}gate")
        self.linear(f"{prefix}u", operand, f"{prefix}up")
        self.emit(f"%{prefix}a = call @{GATED[self.config.activation]}{suffix}(%{prefix}g, "
                  f"%{prefix}u) : ({wide}, {wide}) -> {wide}")
        self.linear(f"{prefix}d", f"{prefix}a", f"{prefix}down")

    def _experts_and_shared(self):
        m = self._mixture("d" if not self.mixture.shared else "routed")
        if self.mixture.shared:
            self.say("And through one MLP that all rows share.")
            self._gated(m, "shared_")
            x, shared = self.types.rows(self.config.hidden), "shared_d"
            if self.mixture.gated:
                weight = self.types.weight_type(self.weights["shared_scale"])
                self.emit(f"%shared_gated = call @gate_shared(%shared_d, %{m}, %shared_scale)\n"
                          f"    : ({x}, {x}, {weight}) -> {x}")
                shared = "shared_gated"
            self.emit(f"%d = call @add_shared(%routed, %{shared}) : ({x}, {x}) -> {x}")

    def _mixture(self, result):
        """%result from %middle; returns the name of its normalised rows."""
        c, types = self.config, self.types
        experts, choices = c.mixture.experts, c.mixture.choices
        logits, ids = types.rows(experts), f"tensor<?x{choices}xi32>"
        narrow, wide = types.rows(choices, c.hidden), types.rows(*types.mlp_sizes)
        gated = GATED[c.activation]
        self.part(f"Each row goes through {choices} of {experts} experts: the sum of their shares "
                   f"of down({gated}(gate, up)).")
        m = self.norm("m", "middle", "mlp_norm")
        shares, normalised = types.rows(choices), " normalised" if c.mixture.normalised else ""
        bias = ", %router_bias" if c.mixture.biased else ""
        bias_type = f", tensor<{experts}xf32>" if bias else ""
        x, router = types.rows(c.hidden), types.weight_type(self.weights["router"])
        self.emit(f"%logits = call @router(%{m}, %router{bias})\n"
                   f"    : ({x}, {router}{bias_type}) -> {logits}")
        keys = self._choice_keys(logits)
        by, by_type = (f" by %{keys}", f" by {logits}") if keys != "logits" else ("", "")
        sigmoid = " sigmoid" if c.mixture.corrected else ""
        self.emit(f"%experts, %shares = kv.route %logits{by}{sigmoid}{normalised}\n"
                   f"    : {logits}{by_type} -> {ids}, {shares}")
        self._experts(("g", "u"), m, x, ("gate", "up"), wide, ids)
        self.emit(f"%a = call @{gated}(%g, %u) : ({wide}, {wide}) -> {wide}")
        self._experts(("e",), "a", wide, ("down",), narrow, ids)
        self.emit(f"%{result} = call @share_experts(%e, %shares) : ({narrow}, {shares}) -> {x}")
        return m

    def _choice_keys(self, type_):
        """The name of what experts are chosen by."""
        mixture, keys = self.config.mixture, "logits"
        if mixture.corrected:
            bias = self.types.weight_type(self.weights["router_correction"])
            self.emit(f"%corrected = call @correct_scores(%logits, %router_correction)\n"
                       f"    : ({type_}, {bias}) -> {type_}")
            keys = "corrected"
        if it := mixture.groups:
            self.emit(f"%kept = kv.keep_groups %{keys} groups {it.count} keep {it.kept} "
                       f"best {it.best} : {type_} -> {type_}")
            keys = "kept"
        return keys

    def _experts(self, results, operand, operand_type, weights, result_type, ids):
        """%results = operand * the chosen experts' weights (+ biases)."""
        biased = self.config.mixture.biased
        products = [f"%{result}_product" if biased else f"%{result}" for result in results]
        matrices = ", ".join(self.types.weight_type(self.weights[weight]) for weight in weights)
        self.emit(f"{', '.join(products)} = kv.expert_matmul %{operand}, "
                   f"{', '.join(f'%{weight}' for weight in weights)} experts(%experts)\n"
                   f"    : {operand_type}, {matrices} experts {ids}\n"
                   f"    -> {', '.join([result_type] * len(results))}")
        if not biased:
            return
        for result, product, weight in zip(results, products, weights):
            bias = self.weights[f"{weight}_bias"]
            self.emit(f"%{result} = call @add_expert_bias_{bias.shape[1]}({product}, %experts, "
                       f"%{weight}_bias)\n    : ({result_type}, {ids}, "
                       f"{self.types.weight_type(bias)}) -> {result_type}")

    # Lines of the function.

    def say(self, text):
        self.lines.append(f"    // {text}")

    def part(self, text):
        self.lines.append("")
        self.say(text)

    def emit(self, text):
        self.lines.append("    " + text.replace("\n", "\n    "))

    def linear(self, result, operand, weight, projection=None):
        """%result = operand * weight (+ bias)."""
        types, found = self.types, self.weights[weight]
        rows, columns = found.shape
        y, format_ = types.rows(rows), types.formats.get(found.name)
        biased = projection in self.config.biases
        product = f"{result}_product" if biased else result
        self.emit(f"%{product} = call {types.linear_name(rows, columns, format_)}(%{operand}, "
                   f"%{weight})\n    : ({types.rows(columns)}, "
                   f"{types.matrix(rows, columns, format_)}) -> {y}")
        if biased:
            self.emit(f"%{result} = call @add_bias_{rows}(%{product}, %b{weight[1:]})\n"
                       f"    : ({y}, tensor<{rows}xf32>) -> {y}")

    def norm(self, result, operand, weight):
        """The name of the normalised operand: itself where the layer has no such norm."""
        if weight not in self.weights:
            return operand
        width = self.config.hidden
        x = self.types.rows(width)
        self.emit(f"%{result} = call @rms_norm(%{operand}, %{weight}) : "
                   f"({x}, tensor<{width}xf32>) -> {x}")
        return result

    def _residual(self, result, residual, new, weight):
        x = self.types.rows(self.config.hidden)
        new = self.norm(f"{new}_normal", new, weight)
        self.emit(f"%{result} = call @add(%{residual}, %{new}) : ({x}, {x}) -> {x}")

    def _row_norm(self, operand, width):
        x = self.types.rows(width)
        self.emit(f"%{operand}_normal = call @rms_norm_{width}(%{operand}, %{operand}_norm)\n"
                   f"    : ({x}, tensor<{width}xf32>) -> {x}")
        return f"{operand}_normal"

    def heads(self, result, operand, count, flat, shaped):
        self.emit(f"%{result} = tensor.expand_shape %{operand} [[0], [1, 2]] "
                   f"output_shape [%rows, {count}, {self.config.head_dim}]\n"
                   f"    : {flat} into {shaped}")

    def _head_norm(self, result, operand, weight, count, shaped):
        width = self.config.head_dim
        rows = self.types.rows(width)
        self.emit(f"%{operand}_flat = tensor.collapse_shape %{operand} [[0, 1], [2]] : "
                   f"{shaped} into {rows}")
        self.emit(f"%{operand}_normal = call @head_norm(%{operand}_flat, %{weight})\n"
                   f"    : ({rows}, tensor<{width}xf32>) -> {rows}")
        self.emit(f"%{result} = tensor.expand_shape %{operand}_normal [[0, 1], [2]] "
                   f"output_shape [%rows, {count}, {width}]\n    : {rows} into {shaped}")

    def _rope(self, result, operand, shaped):
        self.emit(f"%{result} = kv.rope %{operand}, %positions, %freqs\n"
                   f"    : {shaped}, tensor<?xi32>, {self.freqs}")
