"""The functions of recurrent layers beside kv.state_convolution and kv.state_scan."""

from .module_types import number


class RecurrentFunctions:
    """Of one module, whose types are `types`."""

    def __init__(self, types):
        self.types = types
        self.r = types.config.recurrent

    def text(self):
        return [self.gates(), self.gate_silu(),
                self.unit_rows() if self.r.delta else self.group_norm()]

    def maps(self):
        """Aliases at the head of the module (g: group of a row; p: element of it)."""
        if self.r.delta:
            return ""
        return """
// The recurrent layers' views (g: group of a row; p: element of it).
#value = affine_map<(t, g, p) -> (t, g, p)>
#value_head = affine_map<(t, g, p) -> (t, g)>
#value_weight = affine_map<(t, g, p) -> (g, p)>
"""

    def gates(self):
        """Decay and strength of each value head, a row a token."""
        r = self.r
        heads, wide = self.types.rows(r.value_heads), self.types.rows(r.gates)
        vector = f"tensor<{r.value_heads}xf32>"
        rows = 'iterator_types = ["parallel", "parallel"]'
        strength = ("beta, the sigmoid of the first half" if r.delta
                    else "the step, softplus(x + dt_bias)")
        raw, written, result = "", "", "%soft"
        if r.delta:
            result = "%beta"
            raw = f"""
    %rate_rows = tensor.extract_slice %x[0, {r.value_heads}] [%rows, {r.value_heads}] [1, 1] : {wide} to {heads}
    %gate_rows = tensor.extract_slice %x[0, 0] [%rows, {r.value_heads}] [1, 1] : {wide} to {heads}"""
            written = f"""
    %beta = linalg.generic {{indexing_maps = [#ij, #ij], {rows}}}
        ins(%gate_rows : {heads}) outs(%empty : {heads}) {{
    ^bb0(%gate: f32, %unused: f32):
      %minus = arith.negf %gate : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %strength = arith.divf %one, %below : f32
      linalg.yield %strength : f32
    }} -> {heads}"""
        source = "%rate_rows" if r.delta else "%x"
        return f"""\
  // Of each head exp(-exp(a_log) * softplus(x + dt_bias)), by which its state decays, and how
  // strongly the token writes: {strength}.
  func.func private @gates(%x: {wide}, %a_log: {vector}, %dt_bias: {vector})
      -> ({heads}, {heads}) {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %rows = tensor.dim %x, %c0 : {wide}
    %empty = tensor.empty(%rows) : {heads}{raw}
    %soft = linalg.generic {{indexing_maps = [#ij, #j, #ij], {rows}}}
        ins({source}, %dt_bias : {heads}, {vector}) outs(%empty : {heads}) {{
    ^bb0(%value: f32, %bias: f32, %unused: f32):
      %shifted = arith.addf %value, %bias : f32
      %size = math.absf %shifted : f32
      %minus_size = arith.negf %size : f32
      %small = math.exp %minus_size : f32
      %rest = math.log1p %small : f32
      %positive = arith.maximumf %shifted, %zero : f32
      %sum = arith.addf %positive, %rest : f32
      linalg.yield %sum : f32
    }} -> {heads}
    %decay = linalg.generic {{indexing_maps = [#ij, #j, #ij], {rows}}}
        ins(%soft, %a_log : {heads}, {vector}) outs(%empty : {heads}) {{
    ^bb0(%value: f32, %log: f32, %unused: f32):
      %rate = math.exp %log : f32
      %rate_minus = arith.negf %rate : f32
      %exponent = arith.mulf %rate_minus, %value : f32
      %power = math.exp %exponent : f32
      linalg.yield %power : f32
    }} -> {heads}{written}
    return %decay, {result} : {heads}, {heads}
  }}"""

    def gate_silu(self):
        x = self.types.rows(self.r.inner)
        return f"""\
  // x * silu(z).
  func.func private @gate_silu(%x: {x}, %z: {x}) -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #ij, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%x, %z : {x}, {x}) outs(%empty : {x}) {{
    ^bb0(%value: f32, %gate: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %gate : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %silu = arith.divf %gate, %below : f32
      %product = arith.mulf %value, %silu : f32
      linalg.yield %product : f32
    }} -> {x}
    return %y : {x}
  }}"""

    def group_norm(self):
        r = self.r
        groups, width = r.key_heads, r.inner // r.key_heads
        x, shaped = self.types.rows(r.inner), self.types.rows(groups, width)
        sums, weight = self.types.rows(groups), f"tensor<{groups}x{width}xf32>"
        return f"""\
  // Each group of a row divided by its root mean square, times the weight.
  func.func private @group_norm(%x: {x}, %flat_weight: tensor<{r.inner}xf32>) -> {x} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %groups = tensor.expand_shape %x [[0], [1, 2]] output_shape [%rows, {groups}, {width}]
        : {x} into {shaped}
    %weight = tensor.expand_shape %flat_weight [[0, 1]] output_shape [{groups}, {width}]
        : tensor<{r.inner}xf32> into {weight}
    %column = tensor.empty(%rows) : {sums}
    %zeros = linalg.fill ins(%zero : f32) outs(%column : {sums}) -> {sums}
    %squares = linalg.generic {{indexing_maps = [#value, #value_head],
                               iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%groups : {shaped}) outs(%zeros : {sums}) {{
    ^bb0(%value: f32, %sum: f32):
      %square = arith.mulf %value, %value : f32
      %next = arith.addf %sum, %square : f32
      linalg.yield %next : f32
    }} -> {sums}
    %empty = tensor.empty(%rows) : {shaped}
    %y = linalg.generic {{indexing_maps = [#value, #value_head, #value_weight, #value],
                         iterator_types = ["parallel", "parallel", "parallel"]}}
        ins(%groups, %squares, %weight : {shaped}, {sums}, {weight}) outs(%empty : {shaped}) {{
    ^bb0(%value: f32, %sum: f32, %w: f32, %unused: f32):
      %width = arith.constant {number(width)} : f32
      %eps = arith.constant {number(self.types.config.eps)} : f32
      %mean = arith.divf %sum, %width : f32
      %shifted = arith.addf %mean, %eps : f32
      %scale = math.rsqrt %shifted : f32
      %normal = arith.mulf %value, %scale : f32
      %weighted = arith.mulf %normal, %w : f32
      linalg.yield %weighted : f32
    }} -> {shaped}
    %flat = tensor.collapse_shape %y [[0], [1, 2]] : {shaped} into {x}
    return %flat : {x}
  }}"""

    def unit_rows(self):
        x = self.types.rows(self.r.key_dim)
        return f"""\
  // Each row divided by its length, times a factor.
  func.func private @unit_rows(%x: {x}, %factor: f32) -> {x} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
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
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #i, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%x, %squares : {x}, tensor<?xf32>) outs(%empty : {x}) {{
    ^bb0(%value: f32, %sum: f32, %unused: f32):
      %least = arith.constant 1.0e-6 : f32
      %shifted = arith.addf %sum, %least : f32
      %scale = math.rsqrt %shifted : f32
      %unit = arith.mulf %value, %scale : f32
      %scaled = arith.mulf %unit, %factor : f32
      linalg.yield %scaled : f32
    }} -> {x}
    return %y : {x}
  }}"""
