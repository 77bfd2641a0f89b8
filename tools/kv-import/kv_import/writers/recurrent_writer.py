"""The function of one recurrent layer: a mixer with a state in place of attention."""

import math

from .layer_writer import LayerWriter
from .module_types import number


class RecurrentLayerWriter(LayerWriter):
    """Gated delta net, or Mamba-2: project, convolve, scan, gate, project."""

    def _parameters(self, cache):
        types = self.types
        return [f"%x: {types.rows(types.config.hidden)}, %conv: !conv, %state: !state, "
                "%layer: index, %row_offsets: tensor<?xi32>"]

    def _comment(self):
        kind = "gated delta net" if self.config.recurrent.delta else "Mamba-2"
        return f"One layer with a {kind} in place of attention."

    def _mixer(self, cache):
        c, r, types = self.config, self.config.recurrent, self.types
        inner, channels = types.rows(r.inner), types.rows(r.channels)
        g, of = r.key_heads, r.value_heads // r.key_heads
        self.part("Project, and convolve what the state is made of with its last rows.")
        h = self.norm("h", "x", "attn_norm")
        self.linear("z", h, "in_z")
        self.linear("mixed", h, "in_mixed")
        self.linear("gate_rows", h, "in_gates")
        bias, bias_type = "", ""
        if r.biased:
            bias, bias_type = " bias %conv_bias", f", tensor<{r.channels}xf32>"
        self.emit(f"%convolved = kv.state_convolution %mixed, %conv_weight{bias} in %conv[%layer] "
                  f"rows %row_offsets\n    : {channels}, tensor<{r.kernel}x{r.channels}xf32>"
                  f"{bias_type} in !conv, tensor<?xi32> -> {channels}")
        self.part("Queries, keys and values of the heads, and their gates.")
        keys, values = types.rows(g, r.key_dim), types.rows(g, of, r.value_dim)
        for name, (begin, width) in r.parts().items():
            flat = types.rows(width)
            self.emit(f"%{name} = tensor.extract_slice %convolved[0, {begin}] [%rows, {width}] "
                       f"[1, 1] : {channels} to {flat}")
            if name == "v":
                self.emit(f"%v_heads = tensor.expand_shape %v [[0], [1, 2, 3]] output_shape "
                           f"[%rows, {g}, {of}, {r.value_dim}]\n    : {flat} into {values}")
            else:
                self._key_heads(name, flat, keys)
        vector, heads = f"tensor<{r.value_heads}xf32>", types.rows(r.value_heads)
        gates = types.rows(g, of)
        self.emit(f"%decay, %strength = call @gates(%gate_rows, %a_log, %dt_bias)\n"
                   f"    : ({types.rows(r.gates)}, {vector}, {vector}) -> ({heads}, {heads})")
        for name in ("decay", "strength"):
            self.emit(f"%{name}_heads = tensor.expand_shape %{name} [[0], [1, 2]] output_shape "
                       f"[%rows, {g}, {of}] : {heads} into {gates}")
        self.part("The scan.")
        skip, skip_type = "", ""
        if not r.delta:
            self.emit(f"%skip_heads = tensor.expand_shape %skip [[0, 1]] output_shape [{g}, {of}] "
                       f": {vector} into tensor<{g}x{of}xf32>")
            skip, skip_type = " skip %skip_heads", f", tensor<{g}x{of}xf32>"
        delta = " {delta}" if r.delta else ""
        self.emit(f"%o_heads = kv.state_scan %q_heads, %k_heads, %v_heads decay %decay_heads "
                   f"strength %strength_heads{skip}\n    in %state[%layer] rows %row_offsets{delta}\n"
                   f"    : {keys}, {keys}, {values}, {gates}, {gates}{skip_type} in !state, "
                   f"tensor<?xi32>\n    -> {values}")
        self.part("Gate and normalise.")
        self.emit(f"%o = tensor.collapse_shape %o_heads [[0], [1, 2, 3]] : {values} into {inner}")
        if r.delta:
            self.emit(f"%o_rows = tensor.expand_shape %o [[0], [1, 2]] output_shape "
                       f"[%rows, {r.value_heads}, {r.value_dim}] : {inner} into "
                       f"{types.rows(r.value_heads, r.value_dim)}")
            self._rows_of_heads("normal", "o_rows", r.value_heads, r.value_dim,
                                lambda rows: f"call @gated_norm(%o_rows_flat, %mixer_norm)\n"
                                f"    : ({rows}, tensor<{r.value_dim}xf32>) -> {rows}")
            self.emit(f"%normal_rows = tensor.collapse_shape %normal [[0], [1, 2]] : "
                       f"{types.rows(r.value_heads, r.value_dim)} into {inner}")
            self.emit(f"%gated = call @gate_silu(%normal_rows, %z) : ({inner}, {inner}) -> {inner}")
        else:
            self.emit(f"%gated_raw = call @gate_silu(%o, %z) : ({inner}, {inner}) -> {inner}")
            self.emit(f"%gated = call @group_norm(%gated_raw, %mixer_norm)\n"
                       f"    : ({inner}, tensor<{r.inner}xf32>) -> {inner}")
        self.linear("attended", "gated", "wo")

    def _key_heads(self, name, flat, keys):
        """%q_heads or %k_heads; those of a delta net have length 1, queries 1 / sqrt(key_dim)."""
        r = self.config.recurrent
        raw = f"{name}_raw" if r.delta else f"{name}_heads"
        self.emit(f"%{raw} = tensor.expand_shape %{name} [[0], [1, 2]] output_shape "
                   f"[%rows, {r.key_heads}, {r.key_dim}] : {flat} into {keys}")
        if not r.delta:
            return
        factor = 1 / math.sqrt(r.key_dim) if name == "q" else 1
        self.emit(f"%{name}_factor = arith.constant {number(factor)} : f32")
        self._rows_of_heads(f"{name}_heads", raw, r.key_heads, r.key_dim,
                            lambda rows: f"call @unit_rows(%{raw}_flat, %{name}_factor)\n"
                            f"    : ({rows}, f32) -> {rows}")

    def _rows_of_heads(self, result, operand, count, width, call):
        """%result = what `call` makes of the heads of %operand as rows."""
        shaped, rows = self.types.rows(count, width), self.types.rows(width)
        self.emit(f"%{operand}_flat = tensor.collapse_shape %{operand} [[0, 1], [2]] : "
                   f"{shaped} into {rows}")
        self.emit(f"%{result}_flat = {call(rows)}")
        self.emit(f"%{result} = tensor.expand_shape %{result}_flat [[0, 1], [2]] output_shape "
                   f"[%rows, {count}, {width}]\n    : {rows} into {shaped}")
