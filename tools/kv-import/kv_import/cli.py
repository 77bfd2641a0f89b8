"""kv-import: a model file or folder to a module, weights and a tokenizer."""

import dataclasses
import sys
from pathlib import Path

from kv_command_line import Parser, integer

from .model.checks import check_length, check_tensors
from .model.errors import ImportFailure, NotTaken
from .writers.module_writer import ModuleWriter
from .weights.needs import needs
from .readers.text_side import write_text_side
from .weights.weight_formats import CHOICES, choose_formats
from .weights.weights_writer import write_weights


MOST_PAGE = 1 << 20  # of a collection (CacheGeometry)


def parse(arguments):
    parser = Parser(
        prog="kv-import",
        description="Writes model.mlir, weights.safetensors, tokenizer.json and model.json from a "
                    "GGUF file or a Hugging Face folder of a decoder-only model. Of GGUF files: Llama, "
                    "Mistral, Qwen 2 and 3, Qwen 3 with experts, Granite, Phi-3, OLMo 2 and Gemma 3; of folders "
                    "these and some thirty more families (docs/reference/status.md), any other one through PyTorch.")
    parser.add_argument("model", help="FILE.gguf, or a folder with config.json and *.safetensors")
    parser.add_argument("--from", dest="source", choices=("torch", "jax", "onnx"),
                        help="take a graph without a cache, which kv-raise gives one. torch: of a "
                             "Hugging Face folder of any architecture, by its PyTorch code; jax: a "
                             "file of StableHLO; onnx: an ONNX model. Weights are f32, --dtype is "
                             "the cache's (docs/guides/raise.md)")
    parser.add_argument("--tensors", metavar="FILE.safetensors",
                        help="with --from jax: the values of the function's arguments by their names "
                             "(default: the file beside the model, if there is one)")
    parser.add_argument("--check", action="store_true",
                        help="with --from: compile the graph itself, too, and compare the "
                             "logits of prompts that are cut in several ways")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--dtype", choices=("bf16", "f32"), default="bf16",
                        help="of dense weights and the cache (default: bf16)")
    parser.add_argument("--cache", choices=("bf16", "f16", "f32", "f8E4M3FN"),
                        help="of the cache alone; f8E4M3FN has no scales (default: that of --dtype)")
    parser.add_argument("--products", choices=("f8E4M3FN",),
                        help="multiply 8 bits by 8 bits in attention: queries and the softmax's "
                             "weights are rounded too, which makes the error of a cache of f8E4M3FN, "
                             "the only one that it is for, 1.2 to 1.4 times as large (docs/reference/products.md; "
                             "default: only what is in the cache is rounded)")
    parser.add_argument("--activations", choices=("bf16", "f32"),
                        help="what rows are rounded to before dense weights multiply them; bf16 is "
                             "several times as fast a prefill on processors with AMX (default: f32)")
    parser.add_argument("--weights", choices=CHOICES, default="keep",
                        help="keep: quantised weights of the file stay as they are; dense: all "
                             "become --dtype; a format: all are quantised to it (default: keep)")
    parser.add_argument("--page", type=integer(1, MOST_PAGE), default=128, metavar="N",
                        help="tokens a page of the cache (default: 128)")
    parser.add_argument("--max-seq", type=integer(1, 2**31 - 1), metavar="N",
                        help="longest sequence (default: what the model was made for)")
    parser.add_argument("--keep-all", action="store_true",
                        help="one cache that keeps every token, also of layers that see a window "
                             "only: prefixes are found wherever they end, but more memory is held")
    parser.add_argument("--embeddings", action="store_true",
                        help="the module gives hidden states, too: kv-serve answers /v1/embeddings")
    parser.add_argument("--name", help="the model's name (default: that of the file or folder)")
    parser.add_argument("--no-tokenizer", action="store_true",
                        help="write no tokenizer.json (kv-run needs none, kv-generate does)")
    options = parser.parse_args(arguments)
    options.output = Path(options.output)
    return options


# What may be written to the output's folder.
WRITTEN = ("model.mlir", "weights.safetensors", "tokenizer.json", "model.json")


def check_output(options):
    """Nothing that is read may be written."""
    if options.output.is_dir() and options.output.samefile(options.model):
        raise ImportFailure(f"-o {options.output}: the model's own folder")
    for read in filter(None, (options.model, options.tensors)):
        for name in WRITTEN:
            target = options.output / name
            if target.exists() and target.samefile(read):
                raise ImportFailure(f"-o {options.output}: its {name} is a file that is read")


def open_model(path):
    path = Path(path)
    if path.is_dir():
        from .readers.hf_reader import HuggingFaceSource
        return HuggingFaceSource(path)
    if not path.exists():
        raise ImportFailure(f"{path}: no such file or folder; a GGUF file or a Hugging Face "
                            "folder is needed")
    from .readers.gguf_reader import GGUFSource
    return GGUFSource(path)


def adjusted(config, options):
    """The configuration with the command line's choices."""
    changes = {}
    if options.max_seq is not None:
        if options.max_seq > config.max_seq:
            raise ImportFailure(f"--max-seq {options.max_seq}: {config.name} takes 1 to "
                                f"{config.max_seq} tokens")
        changes["max_seq"] = options.max_seq
    if options.name:
        changes["name"] = options.name
    name = changes.get("name", config.name)
    if not name.isprintable():
        raise ImportFailure(f"the model's name is {name!r}, allowed: printable characters; --name gives another")
    return dataclasses.replace(config, **changes)


def check_products(config, options):
    """Whether attentions of this model can have the products that were asked for."""
    if not options.products:
        return
    wish = f"--products {options.products}"
    if options.cache != options.products:
        raise ImportFailure(f"{wish} is for a cache of {options.products}: give --cache "
                            f"{options.products}")
    if config.latent:
        raise ImportFailure(f"{wish}: {config.name} has a latent cache, whose products are of 16 "
                            "bits")
    if config.head_dim % 32:
        raise ImportFailure(f"{wish} is for heads of a multiple of 32 elements, those of "
                            f"{config.name} have {config.head_dim}")


def prepare(options):
    """(Source, configuration, formats, module) of an import, all of it checked; the output has all but the
    weights."""
    source = open_model(options.model)
    config = adjusted(source.config, options)
    check_products(config, options)
    check_length(source.path, config)
    check_tensors(source, config)
    options.output.mkdir(parents=True, exist_ok=True)
    write_text_side(options.output, source, config, options)
    formats, notes = choose_formats(source, config, options.weights, options.dtype)
    for note in notes:
        print(f"kv-import: {source.path}: {note}", file=sys.stderr)
    if formats and options.activations:
        raise ImportFailure(f"--activations {options.activations}: rows are rounded to 8 bits for "
                            "quantised weights; --weights dense has none")
    writer = ModuleWriter(config, options.dtype, options.page, options.keep_all, formats,
                          "i8" if formats else options.activations, options.cache,
                          options.products, embeds=options.embeddings)
    (options.output / "model.mlir").write_text(writer.text(), encoding="utf-8")
    return source, config, formats, writer


def run(options):
    source, config, formats, writer = prepare(options)
    print(needs(config, options.dtype, formats, writer.types), flush=True)
    size = write_weights(options.output / "weights.safetensors", config, source, options.dtype,
                         formats)
    kinds = ", ".join([*sorted(set(formats.values())), options.dtype])
    print(f"{config.name}: {config.architecture}, {config.layers} layers, {kinds}, "
          f"{size / 1e6:.1f} MB of weights, at most {config.max_seq} tokens -> {options.output}")


# Options of modules that kv-import writes itself, with what they are if nothing is said.
OWN = {"cache": None, "products": None, "activations": None, "weights": "keep", "keep_all": False,
       "embeddings": False}


def check_own_options(options):
    """A raised module has none of the choices of one that is written here."""
    for name, default in OWN.items():
        if getattr(options, name) != default:
            raise ImportFailure(f"--{name.replace('_', '-')} is for a model that kv-import writes itself, not "
                                "with --from")


def import_model(options):
    """By the importer of the model's family, or through PyTorch where there is none that takes it."""
    try:
        run(options)
    except NotTaken as refusal:
        from .graphs.exporters import find_exporter
        if not find_exporter("torch"):
            raise ImportFailure(f"{refusal}; kv-import --from torch may take it, through its PyTorch code "
                                "(docs/guides/raise.md)")
        print(f"kv-import: {refusal.short}: --from torch is tried", file=sys.stderr)
        options.source = "torch"
        export_model(options)


def export_model(options):
    from .graphs.exporters import run_exporter
    check_own_options(options)
    run_exporter(options)


def main(arguments=None):
    options = parse(arguments)
    try:
        if Path(options.model).exists():
            check_output(options)
        if options.source:
            export_model(options)
        elif options.check or options.tensors:
            raise ImportFailure(f"{'--check' if options.check else '--tensors'} is for --from, which "
                                "takes a graph without a cache")
        else:
            import_model(options)
    except ImportFailure as error:
        print(f"kv-import: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"kv-import: {error.filename or options.output}: {error.strerror}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"kv-import: {options.model}: this machine has too little memory: {error or 'no size is known'}",
              file=sys.stderr)
        return 1
    return 0
