"""The private functions that the layers and the entry of a module call."""

import math

from . import latent_writer
from .expert_functions import ExpertFunctions
from .module_types import number
from .recurrent_functions import RecurrentFunctions


class HelperFunctions:
    """Of one module, whose types are `types`."""

    def __init__(self, types):
        self.types = types
        self.config = types.config

    def text(self):
        """Those that the model needs, in their order."""
        c, types = self.config, self.types
        out = [self.rms_norm("rms_norm", c.hidden)]
        if c.qk_norm == "head":
            out.append(self.rms_norm("head_norm", c.head_dim))
        if c.qk_norm == "row":
            out += [self.rms_norm(f"rms_norm_{width}", width)
                    for width in dict.fromkeys((types.q_width, types.kv_width))]
        matrices = [(*weight.shape, types.formats.get(weight.name)) for layer in range(c.layers)
                    for weight in c.layer_weights(layer) if weight.role == "linear"]
        out += [self.linear(*matrix) for matrix in dict.fromkeys(matrices)]
        widths = {} if c.latent else {"q_proj": types.q_width, "k_proj": types.kv_width, "v_proj": types.kv_width,
                                      "o_proj": c.hidden}
        out += [self.add_bias(width)
                for width in dict.fromkeys(widths[name] for name in widths if name in c.biases)]
        if c.latent:
            out += latent_writer.functions(self)
        if c.mixture:
            out += ExpertFunctions(types).text()
            if c.mixture.shared:
                out.append(self.sum_of("What experts and the MLP beside them give.", "add_shared"))
        if c.gated_attention:
            out.append(self.gate_sigmoid())
        if c.recurrent:
            if c.recurrent.delta:
                out.append(self.rms_norm("gated_norm", c.recurrent.value_dim))
            out += RecurrentFunctions(types).text()
        out.append(self.activation())
        out += [self.activation(f"_{width}", (width,)) for width in types.other_widths]
        out.append(self.add())
        if c.embedding_scale != 1:
            out.append(self.scale_embedding())
        if c.logit_scale != 1 or c.logit_cap:
            out.append(self.adjust_logits())
        return out

    def rms_norm(self, name, width, eps=None):
        x, vector = self.types.rows(width), f"tensor<{width}xf32>"
        return f"""\
  // Each row divided by its root mean square, times the weight.
  func.func private @{name}(%x: {x}, %weight: {vector}) -> {x} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %width = arith.constant {number(width)} : f32
    %eps = arith.constant {number(eps or self.config.eps)} : f32
    %rows = tensor.dim %x, %c0 : {x}
    %column = tensor.empty(%rows) : tensor<?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%column : tensor<?xf32>) -> tensor<?xf32>
    %squares = linalg.generic {{indexing_maps = [#ij, #i],
                               iterator_types = ["parallel", "reduction"]}}
        ins(%x : {x}) outs(%zeros : tensor<?xf32>) {{
    ^bb0(%value: f32, %sum: f32):
      %square = arith.mulf %value, %value : f32
      %next = arith.addf %sum, %square : f32
      linalg.yield %next : f32
    }} -> tensor<?xf32>
    %scales = linalg.generic {{indexing_maps = [#row, #row], iterator_types = ["parallel"]}}
        ins(%squares : tensor<?xf32>) outs(%column : tensor<?xf32>) {{
    ^bb0(%sum: f32, %unused: f32):
      %mean = arith.divf %sum, %width : f32
      %shifted = arith.addf %mean, %eps : f32
      %scale = math.rsqrt %shifted : f32
      linalg.yield %scale : f32
    }} -> tensor<?xf32>
    %empty = tensor.empty(%rows) : {x}
    %result = linalg.generic {{indexing_maps = [#ij, #i, #j, #ij],
                              iterator_types = ["parallel", "parallel"]}}
        ins(%x, %scales, %weight : {x}, tensor<?xf32>, {vector})
        outs(%empty : {x}) {{
    ^bb0(%value: f32, %scale: f32, %w: f32, %unused: f32):
      %normal = arith.mulf %value, %scale : f32
      %weighted = arith.mulf %normal, %w : f32
      linalg.yield %weighted : f32
    }} -> {x}
    return %result : {x}
  }}"""

    def linear(self, rows, columns, format_):
        x, y = self.types.rows(columns), self.types.rows(rows)
        w = self.types.matrix(rows, columns, format_)
        before, operand, operand_type = self.types.widened("w", w, rows, columns)
        return f"""\
  // {columns} -> {rows}.
  func.func private {self.types.linear_name(rows, columns, format_)}(%x: {x}, %w: {w})
      -> {y} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {y}
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : {y}) -> {y}
{before}    %y = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %{operand} : {x}, {operand_type})
        outs(%zeros : {y}) -> {y}
    return %y : {y}
  }}"""

    def add_bias(self, width):
        x, vector = self.types.rows(width), f"tensor<{width}xf32>"
        return f"""\
  func.func private @add_bias_{width}(%x: {x}, %bias: {vector}) -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #j, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%x, %bias : {x}, {vector}) outs(%empty : {x}) {{
    ^bb0(%value: f32, %b: f32, %unused: f32):
      %sum = arith.addf %value, %b : f32
      linalg.yield %sum : f32
    }} -> {x}
    return %y : {x}
  }}"""

    def _pointwise(self, comment, name, sizes, operands, body):
        """Element by element over rows of these sizes; `body` ends with the yield."""
        x = self.types.rows(*sizes)
        parameters = ", ".join(f"%{operand}: {x}" for operand in operands)
        maps = ", ".join([("#ij", "#tcn")[len(sizes) - 1]] * (len(operands) + 1))
        parallel = ", ".join(['"parallel"'] * (len(sizes) + 1))
        return f"""\
  // {comment}
  func.func private @{name}({parameters}) -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %{operands[0]}, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [{maps}],
                         iterator_types = [{parallel}]}}
        ins({", ".join(f"%{operand}" for operand in operands)} : \
{", ".join([x] * len(operands))}) outs(%empty : {x}) {{
{body}
    }} -> {x}
    return %y : {x}
  }}"""

    def activation(self, suffix="", sizes=None):
        """That of the MLP or of experts, or of rows of these sizes."""
        return {"silu": self.silu_mul, "gelu_tanh": self.gelu_mul,
                "clamped_swiglu": self.clamped_swiglu}[self.config.activation](
                    suffix, sizes or self.types.mlp_sizes)

    def silu_mul(self, suffix, sizes):
        return self._pointwise("gate * sigmoid(gate) * up.", f"silu_mul{suffix}", sizes,
                               ("gate", "up"), """\
    ^bb0(%g: f32, %u: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %g : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %silu = arith.divf %g, %below : f32
      %product = arith.mulf %silu, %u : f32
      linalg.yield %product : f32""")

    def gate_sigmoid(self):
        return self._pointwise("x * sigmoid(gate).", "gate_sigmoid", (self.types.q_width,),
                               ("x", "gate"), """\
    ^bb0(%value: f32, %g: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %g : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %product = arith.divf %value, %below : f32
      linalg.yield %product : f32""")

    def gelu_mul(self, suffix, sizes):
        return self._pointwise(
            "gelu(gate) * up, where gelu(g) = g / 2 * (1 + tanh(sqrt(2 / pi) * (g + 0.044715 "
            "g^3))).", f"gelu_tanh_mul{suffix}", sizes, ("gate", "up"), f"""\
    ^bb0(%g: f32, %u: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %half = arith.constant 0.5 : f32
      %cubic = arith.constant 0.044715 : f32
      %slope = arith.constant {number(math.sqrt(2 / math.pi))} : f32
      %square = arith.mulf %g, %g : f32
      %cube = arith.mulf %square, %g : f32
      %correction = arith.mulf %cube, %cubic : f32
      %bent = arith.addf %g, %correction : f32
      %argument = arith.mulf %bent, %slope : f32
      %tanh = math.tanh %argument : f32
      %weight = arith.addf %tanh, %one : f32
      %halved = arith.mulf %g, %half : f32
      %gelu = arith.mulf %halved, %weight : f32
      %product = arith.mulf %gelu, %u : f32
      linalg.yield %product : f32""")

    def clamped_swiglu(self, suffix, sizes):
        c = self.config
        return self._pointwise(
            f"(up + 1) * gate * sigmoid({number(c.swiglu_alpha)} * gate), of gates of at most "
            f"{number(c.swiglu_limit)} and what goes up of at most that magnitude.",
            f"clamped_swiglu{suffix}", sizes, ("gate", "up"), f"""\
    ^bb0(%g: f32, %u: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %limit = arith.constant {number(c.swiglu_limit)} : f32
      %least = arith.constant {number(-c.swiglu_limit)} : f32
      %slope = arith.constant {number(-c.swiglu_alpha)} : f32
      %gate_clamped = arith.minimumf %g, %limit : f32
      %below_limit = arith.minimumf %u, %limit : f32
      %up_clamped = arith.maximumf %below_limit, %least : f32
      %minus = arith.mulf %gate_clamped, %slope : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %swish = arith.divf %gate_clamped, %below : f32
      %more = arith.addf %up_clamped, %one : f32
      %product = arith.mulf %more, %swish : f32
      linalg.yield %product : f32""")

    def sum_of(self, comment, name):
        return self._pointwise(comment, name, (self.config.hidden,), ("a", "b"), """\
    ^bb0(%left: f32, %right: f32, %unused: f32):
      %sum = arith.addf %left, %right : f32
      linalg.yield %sum : f32""")

    def add(self):
        scale = self.config.residual_scale
        if scale == 1:
            return self.sum_of("The residual sum.", "add")
        return self._pointwise(
            "The residual sum, whose new part is scaled.", "add", (self.config.hidden,),
            ("a", "b"), f"""\
    ^bb0(%left: f32, %right: f32, %unused: f32):
      %scale = arith.constant {number(scale)} : f32
      %scaled = arith.mulf %right, %scale : f32
      %sum = arith.addf %left, %scaled : f32
      linalg.yield %sum : f32""")

    def scale_embedding(self):
        return self._pointwise("The embedding, scaled.", "scale_embedding", (self.config.hidden,),
                               ("x",), f"""\
    ^bb0(%value: f32, %unused: f32):
      %scale = arith.constant {number(self.config.embedding_scale)} : f32
      %scaled = arith.mulf %value, %scale : f32
      linalg.yield %scaled : f32""")

    def adjust_logits(self):
        """The scale, then the cap."""
        c, lines, last, steps = self.config, [], "%value", []
        if c.logit_scale != 1:
            steps.append("scaled")
            lines += [f"%scale = arith.constant {number(c.logit_scale)} : f32",
                      f"%scaled = arith.mulf {last}, %scale : f32"]
            last = "%scaled"
        if c.logit_cap:
            steps.append("capped (l becomes cap * tanh(l / cap))")
            lines += [f"%cap = arith.constant {number(c.logit_cap)} : f32",
                      f"%quotient = arith.divf {last}, %cap : f32",
                      "%tanh = math.tanh %quotient : f32",
                      "%capped = arith.mulf %tanh, %cap : f32"]
            last = "%capped"
        lines.append(f"linalg.yield {last} : f32")
        body = "\n      ".join(["    ^bb0(%value: f32, %unused: f32):", *lines])
        return self._pointwise(f"The logits, {' and '.join(steps)}.", "adjust_logits", (c.vocab,),
                               ("logits",), body)
