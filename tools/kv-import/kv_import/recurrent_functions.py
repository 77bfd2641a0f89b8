"""The functions of recurrent layers: what a token does to the state that is carried on."""

from .module_types import number


class RecurrentFunctions:
    """Of one module, whose types are `types`. Each goes through the tokens of each sequence in
    order, whatever the step, so that no bit depends on how a prompt is cut."""

    def __init__(self, types):
        self.types = types
        self.r = types.config.recurrent

    def text(self):
        return [self.convolution(), self.gates(), self.scan(), self.gate_silu(),
                self.unit_rows() if self.r.delta else self.group_norm()]

    def maps(self):
        """Aliases at the head of the module (c: channel; g, r: key head and which of its value
        heads; n, p: element of a key and of a value)."""
        return """
// The recurrent layers' views (c: channel; g: key head, r: which of its value heads; n, p: element
// of a key, of a value).
#c = affine_map<(c) -> (c)>
#grnp = affine_map<(g, r, n, p) -> (g, r, n, p)>
#gn = affine_map<(g, r, n, p) -> (g, n)>
#gr = affine_map<(g, r, n, p) -> (g, r)>
#grp = affine_map<(g, r, n, p) -> (g, r, p)>
#value = affine_map<(g, r, p) -> (g, r, p)>
#value_head = affine_map<(g, r, p) -> (g, r)>
#value_weight = affine_map<(g, r, p) -> (r, p)>
"""

    def _sequence(self):
        """The tokens of sequence %b."""
        return """\
      %b1 = arith.addi %b, %c1 : index
      %first32 = tensor.extract %row_offsets[%b] : tensor<?xi32>
      %end32 = tensor.extract %row_offsets[%b1] : tensor<?xi32>
      %first = arith.index_cast %first32 : i32 to index
      %end = arith.index_cast %end32 : i32 to index"""

    def convolution(self):
        r = self.r
        taps, width = r.kernel - 1, r.channels
        x, states = self.types.rows(width), self.types.rows(taps, width)
        row = f"tensor<{width}xf32>"
        weights = f"tensor<{r.kernel}x{width}xf32>"
        slices = "\n".join(
            f"    %w{i} = tensor.extract_slice %weight[{i}, 0] [1, {width}] [1, 1] : {weights} "
            f"to {row}" for i in range(r.kernel))
        old = [f"%s{i}" for i in range(taps)]
        begin = "\n".join(
            f"      %b{i}_old = tensor.extract_slice %now[%b, {i}, 0] [1, 1, {width}] [1, 1, 1] : "
            f"{states} to {row}" for i in range(taps))
        end = "\n".join(
            f"      %now{i + 1} = tensor.insert_slice %done#{i + 1} into "
            f"%{f'now{i}' if i else 'now'}[%b, {i}, 0] [1, 1, {width}] [1, 1, 1] : {row} into "
            f"{states}" for i in range(taps))
        parameters = [f"%x{taps}", *(f"%k{i}" for i in range(r.kernel))]
        operands = ["%row", *(f"%w{i}" for i in range(r.kernel))]
        if r.biased:
            parameters.append("%shift")
            operands.append("%bias")
        bias = f", %bias: {row}" if r.biased else ""
        sums = ["      %sum0 = arith.mulf %x0, %k0 : f32"]
        sums += [f"      %sum{i} = math.fma %x{i}, %k{i}, %sum{i - 1} : f32"
                 for i in range(1, r.kernel)]
        total = f"%sum{taps}"
        if r.biased:
            sums.append(f"      %shifted = arith.addf {total}, %shift : f32")
            total = "%shifted"
        sums = "\n    ".join(sums)
        body = ", ".join(f"{p}: f32" for p in [*parameters, "%unused",
                                               *(f"%x{i}" for i in range(taps))])
        carried = ", ".join([x, *[row] * taps])
        return f"""\
  // silu of a causal convolution of each channel with its own {r.kernel} taps. The state is the
  // {taps} rows before the step's.
  func.func private @convolution(%x: {x}, %weight: {weights}{bias}, %states: {states},
      %row_offsets: tensor<?xi32>) -> ({x}, {states}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = tensor.dim %x, %c0 : {x}
    %sequences = tensor.dim %states, %c0 : {states}
    %empty = tensor.empty(%rows) : {x}
{slices}
    %result:2 = scf.for %b = %c0 to %sequences step %c1
        iter_args(%y = %empty, %now = %states) -> ({x}, {states}) {{
{self._sequence()}
{begin}
      %done:{taps + 1} = scf.for %t = %first to %end step %c1
          iter_args(%out = %y, {", ".join(f"{s} = %b{i}_old" for i, s in enumerate(old))})
          -> ({carried}) {{
        %row = tensor.extract_slice %x[%t, 0] [1, {width}] [1, 1] : {x} to {row}
        %place = tensor.extract_slice %out[%t, 0] [1, {width}] [1, 1] : {x} to {row}
        %new:{taps + 1} = linalg.generic {{
            indexing_maps = [{", ".join(["#c"] * (len(operands) + taps + 1))}],
            iterator_types = ["parallel"]}}
            ins({", ".join(operands)} : {", ".join([row] * len(operands))})
            outs(%place, {", ".join(old)} : {", ".join([row] * (taps + 1))}) {{
        ^bb0({body}):
    {sums}
          %one = arith.constant 1.0 : f32
          %minus = arith.negf {total} : f32
          %exp = math.exp %minus : f32
          %below = arith.addf %exp, %one : f32
          %silu = arith.divf {total}, %below : f32
          linalg.yield %silu, {", ".join(f"%x{i + 1}" for i in range(taps))} :
              {", ".join(["f32"] * (taps + 1))}
        }} -> ({", ".join([row] * (taps + 1))})
        %next = tensor.insert_slice %new#0 into %out[%t, 0] [1, {width}] [1, 1] : {row} into {x}
        scf.yield %next, {", ".join(f"%new#{i + 1}" for i in range(taps))} : {carried}
      }}
{end}
      scf.yield %done#0, %now{taps} : {x}, {states}
    }}
    return %result#0, %result#1 : {x}, {states}
  }}"""

    def gates(self):
        """Decay and strength of each value head, a row a token."""
        r = self.r
        heads, wide = self.types.rows(r.value_heads), self.types.rows(r.gates)
        vector = f"tensor<{r.value_heads}xf32>"
        strength = ("beta, the sigmoid of the first half" if r.delta
                    else "the step, softplus(x + dt_bias)")
        shift = "arith.constant 0 : index"
        if r.delta:
            shift = f"arith.constant {r.value_heads} : index"
        if r.delta:
            result = f"""\
      %gate = tensor.extract %x[%row, %column] : {wide}
      %negative = arith.negf %gate : f32
      %gate_exp = math.exp %negative : f32
      %gate_below = arith.addf %gate_exp, %one : f32
      %strength = arith.divf %one, %gate_below : f32
      linalg.yield %decay, %strength : f32, f32"""
        else:
            result = "      linalg.yield %decay, %soft : f32, f32"
        return f"""\
  // Of each head exp(-exp(a_log) * softplus(x + dt_bias)), by which its state decays, and how
  // strongly the token writes: {strength}.
  func.func private @gates(%x: {wide}, %a_log: {vector}, %dt_bias: {vector})
      -> ({heads}, {heads}) {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %shift = {shift}
    %rows = tensor.dim %x, %c0 : {wide}
    %empty = tensor.empty(%rows) : {heads}
    %empty2 = tensor.empty(%rows) : {heads}
    %y:2 = linalg.generic {{indexing_maps = [#j, #j, #ij, #ij],
                           iterator_types = ["parallel", "parallel"]}}
        ins(%a_log, %dt_bias : {vector}, {vector}) outs(%empty, %empty2 : {heads}, {heads}) {{
    ^bb0(%log: f32, %bias: f32, %unused: f32, %unused2: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %place = arith.addi %column, %shift : index
      %value = tensor.extract %x[%row, %place] : {wide}
      %shifted = arith.addf %value, %bias : f32
      %size = math.absf %shifted : f32
      %minus_size = arith.negf %size : f32
      %small = math.exp %minus_size : f32
      %rest = math.log1p %small : f32
      %positive = arith.maximumf %shifted, %zero : f32
      %soft = arith.addf %positive, %rest : f32
      %rate = math.exp %log : f32
      %rate_minus = arith.negf %rate : f32
      %exponent = arith.mulf %rate_minus, %soft : f32
      %decay = math.exp %exponent : f32
{result}
    }} -> ({heads}, {heads})
    return %y#0, %y#1 : {heads}, {heads}
  }}"""

    def scan(self):
        r, types = self.r, self.types
        g, of = r.key_heads, r.value_heads // r.key_heads
        n, p = r.key_dim, r.value_dim
        keys, values = types.rows(g, n), types.rows(g, of, p)
        gates, states = types.rows(g, of), types.rows(g, of, n, p)
        key, value, gate = (f"tensor<{g}x{n}xf32>", f"tensor<{g}x{of}x{p}xf32>",
                            f"tensor<{g}x{of}xf32>")
        state = f"tensor<{g}x{of}x{n}x{p}xf32>"
        loops = 'iterator_types = ["parallel", "parallel", "reduction", "parallel"]'
        if r.delta:
            meaning = ("S = decay S + k (beta (v - decay S k)), and q asks the new one: the gated "
                       "delta rule.")
            extra = ""
            begin = (f"        %start = linalg.fill ins(%zero : f32) outs(%place : {value}) "
                     f"-> {value}")
            written = f"""\
        %nothing = linalg.fill ins(%zero : f32) outs(%spare : {value}) -> {value}
        %known = linalg.generic {{indexing_maps = [#grnp, #gn, #gr, #grp], {loops}}}
            ins(%s, %kt, %dt : {state}, {key}, {gate}) outs(%nothing : {value}) {{
        ^bb0(%old: f32, %key: f32, %decay: f32, %sum: f32):
          %decayed = arith.mulf %old, %decay : f32
          %next = math.fma %decayed, %key, %sum : f32
          linalg.yield %next : f32
        }} -> {value}
        %write = linalg.generic {{indexing_maps = [#value, #value_head, #value],
            iterator_types = ["parallel", "parallel", "parallel"]}}
            ins(%vt, %bt : {value}, {gate}) outs(%known : {value}) {{
        ^bb0(%new: f32, %beta: f32, %old: f32):
          %change = arith.subf %new, %old : f32
          %scaled = arith.mulf %change, %beta : f32
          linalg.yield %scaled : f32
        }} -> {value}"""
        else:
            meaning = "S = decay S + k (step v), and q asks the new one: Mamba-2."
            extra = f", %skip: {gate}"
            begin = f"""\
        %start = linalg.generic {{indexing_maps = [#value, #value_head, #value],
            iterator_types = ["parallel", "parallel", "parallel"]}}
            ins(%vt, %skip : {value}, {gate}) outs(%place : {value}) {{
        ^bb0(%new: f32, %factor: f32, %unused: f32):
          %passed = arith.mulf %new, %factor : f32
          linalg.yield %passed : f32
        }} -> {value}"""
            written = f"""\
        %write = linalg.generic {{indexing_maps = [#value, #value_head, #value],
            iterator_types = ["parallel", "parallel", "parallel"]}}
            ins(%vt, %bt : {value}, {gate}) outs(%spare : {value}) {{
        ^bb0(%new: f32, %step: f32, %unused: f32):
          %scaled = arith.mulf %new, %step : f32
          linalg.yield %scaled : f32
        }} -> {value}"""

        def token(name, source, sizes, whole, part):
            zeros = ", ".join(["0"] * len(sizes))
            ones = ", ".join(["1"] * (len(sizes) + 1))
            return (f"        %{name} = tensor.extract_slice %{source}[%t, {zeros}] "
                    f"[1, {', '.join(map(str, sizes))}] [{ones}] : {whole} to {part}")

        tokens = "\n".join([token("qt", "q", (g, n), keys, key), token("kt", "k", (g, n), keys, key),
                            token("vt", "v", (g, of, p), values, value),
                            token("dt", "decay_rows", (g, of), gates, gate),
                            token("bt", "strength", (g, of), gates, gate),
                            token("place", "out", (g, of, p), values, value)])
        carried = f"({values}, {state}, {value})"
        return f"""\
  // Token by token, of each value head (S: its state, [{n}, {p}]):
  // {meaning}
  func.func private @scan(%q: {keys}, %k: {keys}, %v: {values}, %decay_rows: {gates},
      %strength: {gates}{extra}, %states: {states}, %row_offsets: tensor<?xi32>)
      -> ({values}, {states}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %rows = tensor.dim %q, %c0 : {keys}
    %sequences = tensor.dim %states, %c0 : {states}
    %empty = tensor.empty(%rows) : {values}
    %scratch = tensor.empty() : {value}
    %result:3 = scf.for %b = %c0 to %sequences step %c1
        iter_args(%y = %empty, %now = %states, %free = %scratch)
        -> ({values}, {states}, {value}) {{
{self._sequence()}
      %before = tensor.extract_slice %now[%b, 0, 0, 0, 0] [1, {g}, {of}, {n}, {p}] [1, 1, 1, 1, 1]
          : {states} to {state}
      %done:3 = scf.for %t = %first to %end step %c1
          iter_args(%out = %y, %s = %before, %spare = %free) -> {carried} {{
{tokens}
{written}
        %next = linalg.generic {{indexing_maps = [#gn, #grp, #gr, #grnp],
            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
            ins(%kt, %write, %dt : {key}, {value}, {gate}) outs(%s : {state}) {{
        ^bb0(%key: f32, %new: f32, %decay: f32, %old: f32):
          %decayed = arith.mulf %old, %decay : f32
          %sum = math.fma %key, %new, %decayed : f32
          linalg.yield %sum : f32
        }} -> {state}
{begin}
        %asked = linalg.generic {{indexing_maps = [#grnp, #gn, #grp], {loops}}}
            ins(%next, %qt : {state}, {key}) outs(%start : {value}) {{
        ^bb0(%element: f32, %query: f32, %sum: f32):
          %more = math.fma %element, %query, %sum : f32
          linalg.yield %more : f32
        }} -> {value}
        %written = tensor.insert_slice %asked into %out[%t, 0, 0, 0] [1, {g}, {of}, {p}]
            [1, 1, 1, 1] : {value} into {values}
        scf.yield %written, %next, %write : {values}, {state}, {value}
      }}
      %after = tensor.insert_slice %done#1 into %now[%b, 0, 0, 0, 0] [1, {g}, {of}, {n}, {p}]
          [1, 1, 1, 1, 1] : {state} into {states}
      scf.yield %done#0, %after, %done#2 : {values}, {states}, {value}
    }}
    return %result#0, %result#1 : {values}, {states}
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
