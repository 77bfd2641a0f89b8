"""kvmlir: its subcommands."""

import argparse
import sys

from kv_command_line import Parser

from .model_cache import cache_folder, prepare
from .programs import CommandFailure, become

PROGRAMS = {
    "serve": "answer OpenAI's HTTP interface with a model",
    "generate": "answer prompts with a model",
    "import": "write a model folder of a GGUF file or a Hugging Face folder",
    "compile": "compile a module to an artifact",
    "run": "run an artifact on requests of token ids",
    "opt": "run passes on a module",
    "route": "share requests between servers",
}
PREPARED = ("serve", "generate")


def parse(arguments):
    parser = Parser(
        prog="kvmlir", formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="kvmlir SUBCOMMAND ...\n       kvmlir serve|generate [--import=OPTION] [--compile=OPTION] MODEL ...",
        description="The programs of kv-mlir. `kvmlir SUBCOMMAND --help` shows the options of one.\n\n" +
                    "\n".join(f"  {name:9} {what}" for name, what in PROGRAMS.items()) +
                    "\n\nserve and generate take a GGUF file or a Hugging Face folder, too. They import and compile\n"
                    f"it when they first see it, and keep that in {cache_folder()}.")
    parser.add_argument("subcommand", choices=PROGRAMS, metavar="SUBCOMMAND", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.subcommand in PREPARED and not {"-h", "--help", "--version"} & set(options.rest):
        split_options(parser, options)
    return options


def split_options(parser, options):
    """The options for importing and compiling stand before the model."""
    options.importing, options.compiling = [], []
    given = {"--import": options.importing, "--compile": options.compiling}
    while options.rest and options.rest[0].startswith("--"):
        name, _, value = options.rest.pop(0).partition("=")
        if name not in given or not value:
            parser.error(f"{name} is given before the model, allowed: --import=OPTION, --compile=OPTION")
        given[name].append(value)
    if not options.rest:
        parser.error("a model is needed")


def main(arguments=None):
    options = parse(arguments)
    try:
        if hasattr(options, "importing"):
            options.rest[0] = str(prepare(options.rest[0], options.importing, options.compiling))
        become(f"kv-{options.subcommand}", options.rest)
    except CommandFailure as error:
        print(f"kvmlir: {error}", file=sys.stderr)
    except OSError as error:
        print(f"kvmlir: {error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    return 1
