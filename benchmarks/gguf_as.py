"""gguf_as.py IN.gguf TYPE OUT.gguf: the same model with its matrices in TYPE (F16, BF16, Q8_0, Q4_0), from f32
values."""

import sys

from gguf import GGMLQuantizationType, GGUFReader, LlamaFileType, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize

source, name, target = sys.argv[1:]
kind = GGMLQuantizationType[name]
reader = GGUFReader(source)
writer = GGUFWriter(target, reader.fields["general.architecture"].contents())
for field in reader.fields.values():
    if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
        continue
    value_type = field.types[0]
    element = field.types[-1] if value_type == GGUFValueType.ARRAY else None
    writer.add_key_value(field.name, field.contents(), value_type, sub_type=element)
# "All matrices of the type", which OpenVINO asks for.
writer.add_file_type(LlamaFileType[f"MOSTLY_{name}"])
for tensor in reader.tensors:
    values = dequantize(tensor.data, tensor.tensor_type)
    # Vectors stay as they are read: f32.
    own = kind if len(tensor.shape) > 1 else GGMLQuantizationType.F32
    writer.add_tensor(tensor.name, quantize(values, own), raw_dtype=own)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
