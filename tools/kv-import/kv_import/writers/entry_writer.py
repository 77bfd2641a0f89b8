"""The entry of a module: tokens in, logits out."""

from .module_types import quoted


class EntryWriter:
    """Of the module whose types are `types`; `functions`: the name of each layer's function. embeds: whether the entry
    gives hidden states, too."""

    def __init__(self, types, functions, embeds):
        self.embeds = embeds
        self.types = types
        self.config = types.config
        self.functions = functions

    def gather(self, result, index, table, table_type, element, comment):
        """Rows of `table` by the i32 ids in `index`, widened to f32."""
        c = self.config
        x = self.types.rows(c.hidden)
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
        table, comment = self.types.weight_type(embedding), "The embedding of each token."
        scaled = self.config.embedding_scale != 1
        result = "embedded" if scaled else "x0"
        if embedding.name not in self.types.formats:
            text = self.gather(result, "tokens", "embed", table, self.types.dtype, comment)
        else:
            text = (f"    // {comment}\n    %{result} = kv.dequantize %embed rows(%tokens)\n"
                    f"        : {table}, tensor<?xi32> -> {x}")
        if scaled:
            text += f"\n    %x0 = call @scale_embedding(%embedded) : ({x}) -> {x}"
        return text

    def calls(self, x):
        """The layers, each with its place in its cache."""
        c = self.config
        lines, constants = [], {0: "c0"}
        places = {layer: (cache, i) for cache in self.types.all_caches()
                  for i, layer in enumerate(cache.layers)}
        for layer in range(c.layers):
            cache, place = places[layer]
            if place not in constants:
                constants[place] = f"layer{place}"
                lines.append(f"    %layer{place} = arith.constant {place} : index")
            names = [f"%{w.argument}" for w in c.layer_weights(layer)]
            types = [self.types.weight_type(w) for w in c.layer_weights(layer)]
            caches, more, more_types = ["conv", "state"], "", ""
            if cache is not self.types.states:
                caches, freqs = [self.types.cache_name(cache)], c.freqs(layer)
                more = f", %positions, %{freqs.argument}"
                more_types = f", tensor<?xi32>, {self.types.weight_type(freqs)}"
            lines.append(
                f"    %x{layer + 1} = call @{self.functions[layer]}(%x{layer}, "
                f"{', '.join(f'%{kv}' for kv in caches)}, %{constants[place]}, %row_offsets{more},\n"
                f"        {', '.join(names)})\n"
                f"        : ({x}, {', '.join(f'!{kv}' for kv in caches)}, index, tensor<?xi32>"
                f"{more_types},\n           {', '.join(types)})\n"
                f"        -> {x}")
        return lines

    def forward(self):
        c = self.config
        x, logits = self.types.rows(c.hidden), self.types.rows(c.vocab)
        head, embedding = c.head, c.embedding
        head_type, last = self.types.weight_type(head), f"x{c.layers}"
        arguments = ['%tokens: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}',
                     '%row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]}',
                     '%logit_rows: tensor<?xi32> {kv.name = "logit_rows", kv.dims = ["R"]}',
                     *(f"%{name}: !{name} {{kv.name = {quoted(name)}}}"
                       for name in self.types.collections())]
        results = [(logits, '{kv.name = "logits", kv.dims = ["R"]}')]
        returned, hidden = "%logits", ""
        if self.embeds:
            arguments.insert(3, '%hidden_rows: tensor<?xi32> {kv.name = "hidden_rows", kv.dims = ["E"]}')
            results.append((x, '{kv.name = "hidden", kv.dims = ["E"]}'))
            returned += ", %hidden"
            hidden = f"""{self.gather("embedding", "hidden_rows", last, x, "f32", "The wanted hidden states.")}
    %hidden = call @rms_norm(%embedding, %final_norm) : ({x}, tensor<{c.hidden}xf32>) -> {x}

"""
        arguments += [f"%{w.argument}: {self.types.weight_type(w)} {{kv.weight = {quoted(w.name)}}}"
                      for w in c.weights()]
        signature = ",\n      ".join(arguments)
        layers = self.calls(x)
        before, operand, operand_type = self.types.widened(head.argument, head_type, *head.shape)
        result, adjust = "logits", ""
        if c.logit_scale != 1 or c.logit_cap:
            result = "products"
            adjust = f"    %logits = call @adjust_logits(%products) : ({logits}) -> {logits}\n"
        return f"""\
  // One step: the new tokens of every sequence in, the logits of the wanted rows out.
  func.func @forward(
      {signature})
      -> ({", ".join(f"{kind} {attributes}" for kind, attributes in results)})
      attributes {{kv.entry}} {{
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %positions = kv.positions %kv, %row_offsets : !kv, tensor<?xi32> -> tensor<?xi32>

{self.embed(x, embedding)}

{chr(10).join(layers)}

{hidden}{self.gather("last", "logit_rows", last, x, "f32", "Only the wanted rows go further.")}

    // The logits.
    %normal = call @rms_norm(%last, %final_norm) : ({x}, tensor<{c.hidden}xf32>) -> {x}
    %logits_empty = tensor.empty(%last_rows) : {logits}
    %logits_zero = linalg.fill ins(%zero : f32) outs(%logits_empty : {logits}) -> {logits}
{before}    %{result} = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
        ins(%normal, %{operand} : {x}, {operand_type})
        outs(%logits_zero : {logits}) -> {logits}
{adjust}    return {returned} : {", ".join(kind for kind, _ in results)}
  }}"""
