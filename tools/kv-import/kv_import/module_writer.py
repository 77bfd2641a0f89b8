"""model.mlir: the model as a module, meant to be read by people too (docs/module.md)."""

import math

import numpy as np

from .config import Cache
from .weights_writer import stored_dtype


def number(value):
    """A float literal with the fewest digits that give the same f32."""
    text = repr(float(str(np.float32(value))))
    if "." in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if exponent else f"{mantissa}.0"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class ModuleWriter:
    """`keep_all`: one cache for all layers, which keeps every token; their masks stay.
    `formats`: the quantised weights with their formats."""

    def __init__(self, config, dtype, page, keep_all=False, formats=None):
        self.config = config
        self.dtype = dtype  # of dense matrices and of the cache
        self.formats = formats or {}
        self.page = page
        c = config
        self.caches = [Cache(None, tuple(range(c.layers)))] if keep_all else c.caches()
        self.q_width, self.kv_width = c.heads * c.head_dim, c.kv_heads * c.head_dim

    # Types.

    def rows(self, *sizes):
        """A tensor of f32 activations with a dynamic number of rows."""
        return "tensor<" + "x".join(["?", *map(str, sizes)]) + "xf32>"

    def weight_type(self, weight):
        if weight.role in ("linear", "embedding"):
            return self.matrix(*weight.shape, self.formats.get(weight.name))
        sizes = "x".join(map(str, weight.shape))
        return f"tensor<{sizes}x{stored_dtype(weight, self.dtype)}>"

    def matrix(self, rows, columns, format_):
        element = f"!kv.quant<{format_}>" if format_ else self.dtype
        return f"tensor<{rows}x{columns}x{element}>"

    def layer_formats(self, layer):
        """The formats of a layer's weights, in the order of config.layer_weights."""
        return tuple(self.formats.get(w.name) for w in self.config.layer_weights(layer))

    # Caches: a model with one calls it kv, one with two windows kv and kv_sliding.

    def cache_name(self, cache):
        return "kv" if cache is self.caches[0] else "kv_sliding"

    def cache_type(self, cache):
        c = self.config
        window = f", window = {cache.window}" if cache.window else ""
        return (f"!kv.collection<paged, {self.dtype}, layers = {len(cache.layers)}, "
                f"heads = {c.kv_heads}, dim = {c.head_dim}, page = {self.page}{window}>")

    def kind(self, cache, layer):
        """What layers of one function have in common."""
        return cache, self.config.window(layer), self.layer_formats(layer)

    def kinds(self):
        """Layers that are one function: {kind: (name, the first of them)}."""
        firsts = {}
        for cache in self.caches:
            for layer in cache.layers:
                firsts.setdefault(self.kind(cache, layer), layer)
        names, windows = {}, {window for _, window, _ in firsts}
        for kind, layer in firsts.items():
            name = "layer_sliding" if kind[1] and len(windows) > 1 else "layer"
            taken = sum(other.rstrip("0123456789_") == name for other, _ in names.values())
            names[kind] = (f"{name}_{taken + 1}" if taken else name, layer)
        return names

    # The whole.

    def text(self):
        parts = [self.head()]
        parts += self.helpers()
        parts += [self.layer(name, *kind[:2], first) for kind, (name, first) in
                  self.kinds().items()]
        parts += [self.forward()]
        return parts[0] + "\n\n".join(parts[1:]) + "\n}\n"

    def head(self):
        c = self.config
        types = "\n".join(f"!{self.cache_name(cache)} = {self.cache_type(cache)}"
                          for cache in self.caches)
        return f"""\
// {c.name}: {c.architecture}, {c.layers} layers, width {c.hidden}, \
{c.heads} query heads over {c.kv_heads} KV heads of {c.head_dim}.
// T: tokens of all sequences of the step; R: rows whose logits are wanted.

{types}

// A row-wise view (i: row, j: column).
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#row = affine_map<(i) -> (i)>

// A product with a weight [N, K]: out[m, n] = sum over k of lhs[m, k] * rhs[n, k].
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

module attributes {{kv.model = {{architecture = {quoted(c.architecture)}, \
max_seq_len = {c.max_seq} : i64,
                               name = {quoted(c.name)}, vocab_size = {c.vocab} : i64}}\
{", kv.activations = i8" if self.formats else ""}}} {{

"""

    def helpers(self):
        c = self.config
        out = [self.rms_norm("rms_norm", c.hidden)]
        if c.qk_norm:
            out.append(self.rms_norm("head_norm", c.head_dim))
        matrices = [(*weight.shape, self.formats.get(weight.name)) for layer in range(c.layers)
                    for weight in c.layer_weights(layer) if weight.role == "linear"]
        out += [self.linear(*matrix) for matrix in dict.fromkeys(matrices)]
        widths = {"q_proj": self.q_width, "k_proj": self.kv_width, "v_proj": self.kv_width,
                  "o_proj": c.hidden}
        out += [self.add_bias(width)
                for width in dict.fromkeys(widths[name] for name in widths if name in c.biases)]
        return out + [self.silu_mul(), self.add()]

    # Helper functions.

    def rms_norm(self, name, width):
        x, vector = self.rows(width), f"tensor<{width}xf32>"
        return f"""\
  // Each row divided by its root mean square, times the weight.
  func.func private @{name}(%x: {x}, %weight: {vector}) -> {x} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %width = arith.constant {number(width)} : f32
    %eps = arith.constant {number(self.config.eps)} : f32
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

    def linear_name(self, rows, columns, format_):
        return f"@linear_{rows}x{columns}" + (f"_{format_}" if format_ else "")

    def widened(self, weight, matrix, rows, columns):
        """For a product: what stands before it, the operand, its type."""
        if "!kv.quant" not in matrix:
            return "", weight, matrix
        wide = f"tensor<{rows}x{columns}xf32>"
        return (f"    %{weight}_f32 = kv.dequantize %{weight} : {matrix} -> {wide}\n",
                f"{weight}_f32", wide)

    def linear(self, rows, columns, format_):
        x, w, y = self.rows(columns), self.matrix(rows, columns, format_), self.rows(rows)
        before, operand, operand_type = self.widened("w", w, rows, columns)
        return f"""\
  // {columns} -> {rows}.
  func.func private {self.linear_name(rows, columns, format_)}(%x: {x}, %w: {w})
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
        x, vector = self.rows(width), f"tensor<{width}xf32>"
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

    def _pointwise(self, comment, name, width, a, b, body):
        x = self.rows(width)
        return f"""\
  // {comment}
  func.func private @{name}(%{a}: {x}, %{b}: {x}) -> {x} {{
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %{a}, %c0 : {x}
    %empty = tensor.empty(%rows) : {x}
    %y = linalg.generic {{indexing_maps = [#ij, #ij, #ij],
                         iterator_types = ["parallel", "parallel"]}}
        ins(%{a}, %{b} : {x}, {x}) outs(%empty : {x}) {{
{body}
    }} -> {x}
    return %y : {x}
  }}"""

    def silu_mul(self):
        return self._pointwise("gate * sigmoid(gate) * up.", "silu_mul", self.config.intermediate,
                               "gate", "up", """\
    ^bb0(%g: f32, %u: f32, %unused: f32):
      %one = arith.constant 1.0 : f32
      %minus = arith.negf %g : f32
      %exp = math.exp %minus : f32
      %below = arith.addf %exp, %one : f32
      %silu = arith.divf %g, %below : f32
      %product = arith.mulf %silu, %u : f32
      linalg.yield %product : f32""")

    def add(self):
        return self._pointwise("The residual sum.", "add", self.config.hidden, "a", "b", """\
    ^bb0(%left: f32, %right: f32, %unused: f32):
      %sum = arith.addf %left, %right : f32
      linalg.yield %sum : f32""")

    # One layer.

    def layer(self, name, cache, window, first):
        """The function of layers like `first`."""
        c = self.config
        formats = {w.argument.partition("_")[2]: self.formats.get(w.name)
                   for w in c.layer_weights(first)}
        kv = "!" + self.cache_name(cache)
        x, freqs = self.rows(c.hidden), self.weight_type(c.freqs)
        q, k_or_v = self.rows(self.q_width), self.rows(self.kv_width)
        q3, kv3 = self.rows(c.heads, c.head_dim), self.rows(c.kv_heads, c.head_dim)
        mask = f"sliding = {window}" if window else "causal"
        arguments = [f"%{w.argument.partition('_')[2]}: {self.weight_type(w)}"
                     for w in c.layer_weights(first)]
        lines = []

        def say(text):
            lines.append(f"    // {text}")

        def emit(text):
            lines.append("    " + text.replace("\n", "\n    "))

        def linear(result, operand, weight, rows, columns, bias=None):
            """%result = operand * weight (+ bias)."""
            product = f"{result}_product" if bias in c.biases else result
            format_ = formats[weight]
            emit(f"%{product} = call {self.linear_name(rows, columns, format_)}(%{operand}, "
                 f"%{weight})\n    : ({self.rows(columns)}, "
                 f"{self.matrix(rows, columns, format_)}) -> {self.rows(rows)}")
            if bias in c.biases:
                emit(f"%{result} = call @add_bias_{rows}(%{product}, %b{weight[1:]})\n"
                     f"    : ({self.rows(rows)}, tensor<{rows}xf32>) -> {self.rows(rows)}")

        def norm(result, operand, weight):
            emit(f"%{result} = call @rms_norm(%{operand}, %{weight}) : "
                 f"({x}, tensor<{c.hidden}xf32>) -> {x}")

        def heads(result, operand, count, flat, shaped):
            emit(f"%{result} = tensor.expand_shape %{operand} [[0], [1, 2]] "
                 f"output_shape [%rows, {count}, {c.head_dim}]\n    : {flat} into {shaped}")

        def head_norm(result, operand, weight, count, shaped):
            rows = self.rows(c.head_dim)
            emit(f"%{operand}_flat = tensor.collapse_shape %{operand} [[0, 1], [2]] : "
                 f"{shaped} into {rows}")
            emit(f"%{operand}_normal = call @head_norm(%{operand}_flat, %{weight})\n"
                 f"    : ({rows}, tensor<{c.head_dim}xf32>) -> {rows}")
            emit(f"%{result} = tensor.expand_shape %{operand}_normal [[0, 1], [2]] "
                 f"output_shape [%rows, {count}, {c.head_dim}]\n    : {rows} into {shaped}")

        def rope(result, operand, shaped):
            emit(f"%{result} = kv.rope %{operand}, %positions, %freqs\n"
                 f"    : {shaped}, tensor<?xi32>, {freqs}")

        emit("%c0 = arith.constant 0 : index")
        emit(f"%rows = tensor.dim %x, %c0 : {x}")
        lines.append("")
        say("Attention: normalise, project, split into heads, rotate, store, attend.")
        norm("h", "x", "attn_norm")
        linear("q", "h", "wq", self.q_width, c.hidden, "q_proj")
        linear("k", "h", "wk", self.kv_width, c.hidden, "k_proj")
        linear("v", "h", "wv", self.kv_width, c.hidden, "v_proj")
        heads("q_heads", "q", c.heads, q, q3)
        heads("k_heads", "k", c.kv_heads, k_or_v, kv3)
        heads("v_heads", "v", c.kv_heads, k_or_v, kv3)
        query, key = "q_heads", "k_heads"
        if c.qk_norm:
            say("Query and key heads are normalised before the rotation.")
            head_norm("q_scaled", query, "q_norm", c.heads, q3)
            head_norm("k_scaled", key, "k_norm", c.kv_heads, kv3)
            query, key = "q_scaled", "k_scaled"
        rope("q_rope", query, q3)
        rope("k_rope", key, kv3)
        emit(f"kv.store %k_rope, %v_heads into %kv[%layer] rows %row_offsets\n"
             f"    : {kv3}, {kv3} into {kv}, tensor<?xi32>")
        emit(f"%o_heads = kv.attention %q_rope in %kv[%layer] rows %row_offsets "
             f"mask <{mask}> scale {number(1 / math.sqrt(c.head_dim))}\n"
             f"    : {q3} in {kv}, tensor<?xi32> -> {q3}")
        emit(f"%o = tensor.collapse_shape %o_heads [[0], [1, 2]] : {q3} into {q}")
        linear("attended", "o", "wo", c.hidden, self.q_width, "o_proj")
        emit(f"%middle = call @add(%x, %attended) : ({x}, {x}) -> {x}")
        lines.append("")
        say("MLP: down(silu(gate) * up).")
        norm("m", "middle", "mlp_norm")
        linear("g", "m", "gate", c.intermediate, c.hidden)
        linear("u", "m", "up", c.intermediate, c.hidden)
        wide = self.rows(c.intermediate)
        emit(f"%a = call @silu_mul(%g, %u) : ({wide}, {wide}) -> {wide}")
        linear("d", "a", "down", c.hidden, c.intermediate)
        emit(f"%y = call @add(%middle, %d) : ({x}, {x}) -> {x}")
        emit(f"return %y : {x}")
        body = "\n".join(lines)
        signature = ",\n      ".join([
            f"%x: {x}, %kv: {kv}, %layer: index",
            f"%row_offsets: tensor<?xi32>, %positions: tensor<?xi32>, %freqs: {freqs}",
            *arguments])
        sees = f", whose queries see {window} tokens" if name == "layer_sliding" else ""
        return f"""\
  // One transformer layer{sees}.
  func.func private @{name}(
      {signature})
      -> {x} {{
{body}
  }}"""

    # The entry.

    def gather(self, result, index, table, table_type, element, comment):
        """Rows of `table` by the i32 ids in `index`, widened to f32."""
        c = self.config
        x = self.rows(c.hidden)
        widen = "" if element == "f32" else f"      %wide = arith.extf %value : {element} to f32\n"
        value = "%value" if element == "f32" else "%wide"
        return f"""\
    // {comment}
    %{result}_rows = tensor.dim %{index}, %c0 : tensor<?xi32>
    %{result}_empty = tensor.empty(%{result}_rows) : {x}
    %{result} = linalg.generic {{indexing_maps = [#i, #ij],
                          iterator_types = ["parallel", "parallel"]}}
        ins(%{index} : tensor<?xi32>) outs(%{result}_empty : {x}) {{
    ^bb0(%id: i32, %unused: f32):
      %row = arith.index_cast %id : i32 to index
      %column = linalg.index 1 : index
      %value = tensor.extract %{table}[%row, %column] : {table_type}
{widen}      linalg.yield {value} : f32
    }} -> {x}"""

    def embed(self, x, embedding):
        table, comment = self.weight_type(embedding), "The embedding of each token."
        if embedding.name not in self.formats:
            return self.gather("x0", "tokens", "embed", table, self.dtype, comment)
        return (f"    // {comment}\n    %x0 = kv.dequantize %embed rows(%tokens)\n"
                f"        : {table}, tensor<?xi32> -> {x}")

    def calls(self, x):
        """The layers, each with its place in its cache."""
        c = self.config
        lines, constants, kinds = [], {0: "c0"}, self.kinds()
        places = {layer: (cache, i) for cache in self.caches
                  for i, layer in enumerate(cache.layers)}
        for layer in range(c.layers):
            cache, place = places[layer]
            if place not in constants:
                constants[place] = f"layer{place}"
                lines.append(f"    %layer{place} = arith.constant {place} : index")
            kv = self.cache_name(cache)
            names = [f"%{w.argument}" for w in c.layer_weights(layer)]
            name, _ = kinds[self.kind(cache, layer)]
            types = [self.weight_type(w) for w in c.layer_weights(layer)]
            lines.append(
                f"    %x{layer + 1} = call @{name}(%x{layer}, %{kv}, "
                f"%{constants[place]}, %row_offsets, %positions, %freqs,\n"
                f"        {', '.join(names)})\n"
                f"        : ({x}, !{kv}, index, tensor<?xi32>, tensor<?xi32>, "
                f"{self.weight_type(c.freqs)},\n           {', '.join(types)})\n"
                f"        -> {x}")
        return lines

    def forward(self):
        c = self.config
        x, logits = self.rows(c.hidden), self.rows(c.vocab)
        head, embedding = c.head, c.embedding
        head_type = self.weight_type(head)
        arguments = ['%tokens: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}',
                     '%row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]}',
                     '%logit_rows: tensor<?xi32> {kv.name = "logit_rows", kv.dims = ["R"]}',
                     *(f"%{name}: !{name} {{kv.name = {quoted(name)}}}"
                       for name in map(self.cache_name, self.caches))]
        arguments += [f"%{w.argument}: {self.weight_type(w)} {{kv.weight = {quoted(w.name)}}}"
                      for w in c.weights()]
        signature = ",\n      ".join(arguments)
        layers = self.calls(x)
        before, operand, operand_type = self.widened(head.argument, head_type, *head.shape)
        last = f"x{c.layers}"
        return f"""\
  // One step: the new tokens of every sequence in, the logits of the wanted rows out.
  func.func @forward(
      {signature})
      -> ({logits} {{kv.name = "logits", kv.dims = ["R"]}})
      attributes {{kv.entry}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %positions = kv.positions %kv, %row_offsets : !kv, tensor<?xi32> -> tensor<?xi32>

{self.embed(x, embedding)}

{chr(10).join(layers)}

{self.gather("last", "logit_rows", last, x, "f32", "Only the wanted rows go further.")}

    // The logits.
    %normal = call @rms_norm(%last, %final_norm) : ({x}, tensor<{c.hidden}xf32>) -> {x}
    %logits_empty = tensor.empty(%last_rows) : {logits}
    %logits_zero = linalg.fill ins(%zero : f32) outs(%logits_empty : {logits}) -> {logits}
{before}    %logits = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%normal, %{operand} : {x}, {operand_type})
        outs(%logits_zero : {logits}) -> {logits}
    return %logits : {logits}
  }}"""
