"""The private functions of a mixture of experts."""

from .module_types import number


class ExpertFunctions:
    """Of one module, whose types are `types`."""

    def __init__(self, types):
        self.types = types
        self.config = types.config

    def text(self):
        out = [self.router()]
        if self.config.mixture.corrected:
            out.append(self.correct_scores())
        if self.config.mixture.biased:
            widths = (self.config.intermediate, self.config.hidden)
            out += [self.add_expert_bias(width) for width in dict.fromkeys(widths)]
        out.append(self.share_experts())
        if self.config.mixture.gated:
            out.append(self.gate_shared())
        return out

    def router(self):
        """In f32, whatever the other matrices are."""
        c, types = self.config, self.types
        x, y = types.rows(c.hidden), types.rows(c.mixture.experts)
        w = f"tensor<{c.mixture.experts}x{c.hidden}xf32>"
        product = f"""\
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {y}
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : {y}) -> {y}
    %products = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%x, %w : {x}, {w})
        outs(%zeros : {y}) -> {y}"""
        if not c.mixture.biased:
            return f"""\
  // A logit for each expert.
  func.func private @router(%x: {x}, %w: {w})
      -> {y} {{
{product}
    return %products : {y}
  }}"""
        bias = f"tensor<{c.mixture.experts}xf32>"
        return f"""\
  // A logit for each expert.
  func.func private @router(%x: {x}, %w: {w}, %bias: {bias})
      -> {y} {{
{product}
    %y = linalg.generic {{indexing_maps = [#ij, #j, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%products, %bias : {y}, {bias}) outs(%empty : {y}) {{
    ^bb0(%value: f32, %b: f32, %unused: f32):
      %sum = arith.addf %value, %b : f32
      linalg.yield %sum : f32
    }} -> {y}
    return %y : {y}
  }}"""

    def correct_scores(self):
        experts = self.config.mixture.experts
        x, bias = self.types.rows(experts), f"tensor<{experts}xf32>"
        return f"""\
  // What experts are chosen by: 1 / (1 + exp(-logit)), and a correction.
  func.func private @correct_scores(%logits: {x}, %correction: {bias})
      -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %logits, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #j, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%logits, %correction : {x}, {bias}) outs(%empty : {x}) {{
    ^bb0(%logit: f32, %b: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %below = arith.negf %logit : f32
      %power = math.exp %below : f32
      %all = arith.addf %one, %power : f32
      %score = arith.divf %one, %all : f32
      %sum = arith.addf %score, %b : f32
      linalg.yield %sum : f32
    }} -> {x}
    return %y : {x}
  }}"""

    def add_expert_bias(self, width):
        mixture = self.config.mixture
        x, ids = self.types.rows(mixture.choices, width), f"tensor<?x{mixture.choices}xi32>"
        table = f"tensor<{mixture.experts}x{width}xf32>"
        return f"""\
  // To each product the bias of its expert.
  func.func private @add_expert_bias_{width}(%x: {x}, %experts: {ids}, %bias: {table})
      -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#tcn, #tc, #tcn],
                         iterator_types = ["parallel", "parallel", "parallel"]}}
        ins(%x, %experts : {x}, {ids}) outs(%empty : {x}) {{
    ^bb0(%value: f32, %expert: i32, %unused: f32):
      %row = arith.index_cast %expert : i32 to index
      %column = linalg.index 2 : index
      %b = tensor.extract %bias[%row, %column] : {table}
      %sum = arith.addf %value, %b : f32
      linalg.yield %sum : f32
    }} -> {x}
    return %y : {x}
  }}"""

    def share_experts(self):
        c, types = self.config, self.types
        x, y = types.rows(c.mixture.choices, c.hidden), types.rows(c.hidden)
        shares = types.rows(c.mixture.choices)
        scaled, share = "", "%share"
        if c.mixture.scale != 1:
            share = "%scaled"
            scaled = (f"      %scale = arith.constant {number(c.mixture.scale)} : f32\n"
                      "      %scaled = arith.mulf %share, %scale : f32\n")
        return f"""\
  // What the experts of a row give, each times its share, in the order of the choices.
  func.func private @share_experts(%x: {x}, %shares: {shares}) -> {y} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %empty = tensor.empty(%rows) : {y}
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : {y}) -> {y}
    %y = linalg.generic {{indexing_maps = [#tcn_of_tn, #tc_of_tn, #tn],
                         iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%x, %shares : {x}, {shares}) outs(%zeros : {y}) {{
    ^bb0(%value: f32, %share: f32, %sum: f32):
{scaled}      %part = arith.mulf %value, {share} : f32
      %next = arith.addf %sum, %part : f32
      linalg.yield %next : f32
    }} -> {y}
    return %y : {y}
  }}"""

    def gate_shared(self):
        c, x, column = self.config, self.types.rows(self.config.hidden), "tensor<?xf32>"
        weight = f"tensor<1x{c.hidden}xf32>"
        return f"""\
  // x times the sigmoid of the product of its row before the MLP and the weight.
  func.func private @gate_shared(%x: {x}, %m: {x}, %weight: {weight}) -> {x} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %x, %c0 : {x}
    %vector = tensor.collapse_shape %weight [[0, 1]] : {weight} into tensor<{c.hidden}xf32>
    %column = tensor.empty(%rows) : {column}
    %zeros = linalg.fill ins(%zero : f32) outs(%column : {column}) -> {column}
    %logits = linalg.generic {{indexing_maps = [#ij, #j, #i],
                              iterator_types = ["parallel", "reduction"]}}
        ins(%m, %vector : {x}, tensor<{c.hidden}xf32>) outs(%zeros : {column}) {{
    ^bb0(%value: f32, %w: f32, %sum: f32):
      %part = arith.mulf %value, %w : f32
      %next = arith.addf %sum, %part : f32
      linalg.yield %next : f32
    }} -> {column}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #i, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%x, %logits : {x}, {column}) outs(%empty : {x}) {{
    ^bb0(%value: f32, %logit: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %logit : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %gated = arith.divf %value, %below : f32
      linalg.yield %gated : f32
    }} -> {x}
    return %y : {x}
  }}"""
