"""An ONNX model of one sequence to a graph of linalg.

    python onnx_export.py FILE.onnx -o DIR [--name NAME] [--max-seq N]

The model's inputs that are no initializers are the tokens, integers [1, T] with a symbolic T. Writes
DIR/graph.mlir and DIR/weights.safetensors with the initializers by their names. Runs in an environment
with onnx.txt installed; torch-mlir's wheel has the importer and the passes."""

import argparse
import sys

import graph_file
import numpy as np
import onnx
from onnx import numpy_helper
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer
from torch_mlir.passmanager import PassManager

# Shapes and the constants of a computation are small; these stay what they are.
FEWEST = 32
PIPELINE = ("builtin.module(func.func(convert-torch-onnx-to-torch),"
            "torch-lower-to-backend-contract{backend-legal-ops= decompose=true},"
            "torch-backend-to-linalg-on-tensors-backend-pipeline)")


def without_initializers(model):
    """Name -> values of the large initializers, which become inputs of the model."""
    graph, found = model.graph, {}
    named = {each.name for each in graph.input}
    for tensor in list(graph.initializer):
        values = numpy_helper.to_array(tensor)
        if values.size < FEWEST and values.ndim != 1 or values.dtype not in (np.float32, np.float64):
            continue
        found[tensor.name] = values.astype(np.float32)
        graph.initializer.remove(tensor)
        if tensor.name not in named:
            graph.input.append(onnx.helper.make_tensor_value_info(
                tensor.name, tensor.data_type, list(values.shape)))
    return found


def to_linalg(model):
    config = onnx_importer.Config()
    info = onnx_importer.ModelInfo(model, config=config)
    module = info.create_module(context=ir.Context.current)
    onnx_importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    PassManager.parse(PIPELINE).run(module.operation)
    return module


def main():
    parser = argparse.ArgumentParser(prog="onnx_export.py", description=__doc__)
    parser.add_argument("file")
    graph_file.add_options(parser)
    options = parser.parse_args()
    with ir.Context() as context, ir.Location.unknown():
        torch_dialect.register_dialect(context)
        try:
            model = onnx.shape_inference.infer_shapes(onnx.load(options.file), data_prop=True)
            weights = without_initializers(model)
            names = [each.name for each in model.graph.input]
            module = to_linalg(model)
            graph_file.write(module, names, options, "onnx", weights)
        except (ir.MLIRError, graph_file.Refused, onnx_importer.OnnxImportError, OSError) as error:
            print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
