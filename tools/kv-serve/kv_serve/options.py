"""kv-serve's command line."""

import os
import ssl

from kv_command_line import Parser, integer, number
from kvmlir.options import MANAGER, SERVER

from .bodies import UNKNOWN_FIELDS
from .guard import Access, is_loopback
from .http_server import resolve

_PAGES, _BYTES = integer(1, 2**31 - 2), integer(1, 2**63 - 1)
_SECONDS = number("above 0, at most 86400", lambda x: 0 < x <= 86400)
# The server has a path for resets, and its model's name.
_CACHE = [one for one in MANAGER if one.flag and one.name not in ("reset_endpoint", "metrics_vllm")]
FLAGS = {one.name: one.flag for one in _CACHE} | {"tls_cert": "--tls-cert", "tls_key": "--tls-key"}
# What is of use with another option only.
_NEEDED = {one.name: one.needs for one in _CACHE if one.needs} | {"tls_cert": "tls_key", "tls_key": "tls_cert"}
_SIZES = ("num_pages", "available_cache_memory")
_KEY_VARIABLE = "KV_SERVE_API_KEY"


def parse(arguments):
    parser = Parser(
        prog="kv-serve",
        description="Serves a model folder (what kv-import wrote, and model.so) over OpenAI's HTTP interface.",
        epilog="example: kv-serve model --port 8731 --cache-bytes 8000000000")
    parser.add_argument("model", help="folder with model.so, weights.safetensors, tokenizer.json and "
                                      "model.json")
    parser.add_argument("--served-model-name", metavar="NAME", help="default: the model's own")
    parser.add_argument("--shutdown-seconds", type=integer(0, 86400), default=30, metavar="N",
                        help="for running requests, after SIGTERM (default: 30)")
    parser.add_argument("--log-level", default="warning", choices=("error", "warning", "info", "debug"),
                        help="default: warning; info: also each request, and the reason of each refusal")
    parser.add_argument("--unknown-fields", choices=("refuse", "ignore"),
                        help=f"of requests (default: the environment variable {UNKNOWN_FIELDS}, or refuse); the log "
                             "names each that is ignored once")
    _add_computing(parser.add_argument_group("what is computed"))
    _add_cache(parser.add_argument_group("the cache", "Without --pages and --cache-bytes: 4 requests of the model's "
                                         "length, at most 1 GiB."))
    _add_connections(parser.add_argument_group("connections"))
    _add_access(parser.add_argument_group("who may ask"))
    options = parser.parse_args(arguments)
    for name, needed in _NEEDED.items():
        if getattr(options, name) and not getattr(options, needed):
            parser.error(f"{FLAGS[name]} is given, and no {FLAGS[needed]}")
    if options.draft_length != parser.get_default("draft_length") and not options.draft:
        parser.error("--draft-length is given, and no --draft")
    return options


def of_manager(options):
    """The keywords of a manager that are given."""
    return {one.name: value for one in _CACHE if (value := getattr(options, one.name))}


def _add_table(group, rows):
    """The flags of options of kvmlir."""
    for one in rows:
        more = {"help": one.sentence + (f" (default: {one.default})" if one.default else "")}
        if one.kind == "switch":
            more["action"] = "store_true"
        elif one.kind == "choice":
            more["choices"] = one.range
        elif one.kind == "text":
            more["metavar"] = "TEXT"
        else:
            more.update(type=integer(*one.range), default=None if one.needs else one.default, metavar="N")
        if one.name == "events_topic":
            more["type"] = str  # it may be empty
        group.add_argument(one.flag, dest=one.name, **more)


def _add_computing(group):
    add = group.add_argument
    add("--device", metavar="D", help="cpu (default), cuda or cuda:N: what the artifact is for")
    add("--deterministic", action="store_true",
        help="on a GPU: an answer does not depend on the requests beside it (on a CPU it never does)")
    add("--threads", type=integer(1, 4096), metavar="N", help="default: cores")
    _add_table(group, SERVER)
    add("--draft", metavar="FOLDER", help="a smaller model with the same tokens, whose guesses the model verifies")
    add("--max-requests", type=integer(1, 2**31 - 1), default=1024, metavar="N",
        help="most requests that run and wait (default: 1024); more are refused by 429")


def _add_cache(group):
    _add_table(group.add_mutually_exclusive_group(), [one for one in _CACHE if one.name in _SIZES])
    _add_table(group, [one for one in _CACHE if one.name not in _SIZES])
    group.add_argument("--replicas", type=integer(1, 1024), default=1, metavar="N",
                       help="caches of their own (default: 1; more on a CPU only); a request goes to the one that has "
                            "most of its prefix")
    group.add_argument("--host-pages", type=_PAGES, metavar="N",
                       help="pages of host memory that back the cache (default: none; with a disk, a store or a peer, "
                            "as many as fit in 512 MiB)")


def _add_connections(group):
    add = group.add_argument
    add("--host", default="127.0.0.1", help="address or name to listen at (default: 127.0.0.1)")
    add("--port", type=integer(0, 65535), default=8000, metavar="N", help="default: 8000; 0: one that is free")
    add("--max-connections", type=integer(1, 2**20), metavar="N",
        help="default: 2048, or as many as the process may open files; where there are more, the one that has waited "
             "longest for a request's rest is closed")
    add("--header-seconds", type=_SECONDS, default=10, metavar="X",
        help="in which a request's head is there (default: 10)")
    add("--body-seconds", type=_SECONDS, default=60, metavar="X", help="in which its body is there (default: 60)")
    add("--stored-bytes", type=integer(0, 2**63 - 1), default=64 << 20, metavar="N",
        help="of responses and their requests that are stored, in memory (default: 64 MiB); beyond them those go that "
             "were not used for longest")
    add("--body-bytes", type=_BYTES, default=256 << 20, metavar="N",
        help="of all bodies of more than 256 KiB that are being read (default: 256 MiB)")


def _add_access(group):
    add = group.add_argument
    add("--api-key", action="append", default=[], metavar="KEY",
        help=f"clients must know it; may be given several times (default: nobody is asked). Others may see a command "
             f"line: --api-key-file, and the environment variable {_KEY_VARIABLE}, hide it")
    add("--api-key-file", metavar="FILE", help="keys, one a line")
    add("--allow-host", action="append", default=[], metavar="NAME",
        help="a name that requests may have as Host, also several times (default: those of this machine where --host "
             "is one of them, else any)")
    add("--allow-origin", action="append", default=[], metavar="ORIGIN",
        help="web pages that may use it, such as https://example.org, also several times; *: all (default: none but "
             "its own)")
    add("--tls-cert", metavar="FILE", help="certificates, PEM: the server speaks HTTPS (default: HTTP)")
    add("--tls-key", metavar="FILE", help="the certificate's key, PEM")


def read_access(options):
    """Raises ValueError, OSError."""
    if options.tls_cert:
        _check_tls(options)
    _, address = resolve(options.host, options.port)
    # From elsewhere a server is known by names that only its owner knows.
    hosts = {name.lower() for name in options.allow_host}
    hosts = frozenset({*hosts, options.host.lower()}) if hosts or is_loopback(address[0]) else None
    return Access(hosts, tuple(options.allow_origin), tuple(_read_keys(options)))


def _read_keys(options):
    keys = list(options.api_key)
    if variable := os.environ.get(_KEY_VARIABLE):
        keys.append(variable)
    if options.api_key_file:
        with open(options.api_key_file, encoding="utf-8") as file:
            try:
                found = [line.strip() for line in file if line.strip()]
            except UnicodeDecodeError:
                raise ValueError(f"--api-key-file {options.api_key_file}: not UTF-8")
        if not found:
            raise ValueError(f"--api-key-file {options.api_key_file}: no key, at least one line is needed")
        keys += found
    for key in keys:
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("an API key has other characters than printable ones of ASCII, which no header can name")
    return keys


def _check_tls(options):
    """As uvicorn will load them, but with a sentence; and asks nobody for a password."""
    for path in (options.tls_cert, options.tls_key):
        with open(path, "rb"):
            pass
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.tls_cert, options.tls_key, lambda: "")
    except (ssl.SSLError, ValueError) as error:
        raise ValueError(f"--tls-cert {options.tls_cert}, --tls-key {options.tls_key}: no certificate with its key, "
                         f"without a password, in PEM: {getattr(error, 'reason', None) or error}")
