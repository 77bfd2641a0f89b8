"""kv-generate: prompts to answers."""

import json
import os
import sys
import time
from pathlib import Path

from kv_command_line import Parser, integer, number

from .chat import ChatFormat, conversation
from .detokenize import Detokenizer
from .errors import GenerateFailure
from .model_folder import ModelFolder
from .runner import Runner, find_kv_run


def parse(arguments):
    parser = Parser(
        prog="kv-generate",
        description="Answers prompts with a model folder: what kv-import wrote and model.so.")
    parser.add_argument("model", help="folder with model.so, weights.safetensors, tokenizer.json "
                                      "and model.json")
    parser.add_argument("prompt", nargs="*", type=str, help="each is one request; - reads standard input")
    parser.add_argument("--chat", action="store_true", help="a conversation, one line a turn")
    parser.add_argument("--system", type=str, metavar="TEXT", help="the system message")
    parser.add_argument("--raw", action="store_true", help="no chat template: continue the text")
    parser.add_argument("--one-by-one", action="store_true",
                        help="start a prompt when the answer before it is complete; --stats has each")
    parser.add_argument("--max-new-tokens", type=integer(0, 2**31 - 1), default=256, metavar="N",
                        help="most tokens of an answer (default: 256)")
    parser.add_argument("--temperature", type=number("of 0 or more", lambda x: x >= 0), metavar="X", help="0 is greedy")
    parser.add_argument("--top-k", type=integer(0, 2**31 - 1), metavar="N", help="0 is off")
    parser.add_argument("--top-p", type=number("above 0, at most 1", lambda x: 0 < x <= 1), metavar="X",
                        help="1 is off")
    parser.add_argument("--min-p", type=number("from 0 to 1", lambda x: 0 <= x <= 1), metavar="X", help="0 is off")
    parser.add_argument("--seed", type=integer(0, 2**63 - 1), default=0, metavar="N",
                        help="request i draws with the seed N + i (default: 0)")
    parser.add_argument("--threads", type=integer(1, 4096), metavar="N", help="default: cores")
    parser.add_argument("--stats", metavar="FILE", help="write kv-run's statistics (of the last turn); - is stderr")
    parser.add_argument("--kv-run", metavar="FILE", help="the program (default: the one in PATH or in a build)")
    # Prompts may stand before, between and after options.
    options = parser.parse_intermixed_args(arguments)
    if options.chat and (options.prompt or options.raw):
        parser.error("--chat takes neither prompts nor --raw")
    if options.raw and options.system is not None:
        parser.error("--system is for a chat template, and --raw uses none")
    if not options.chat and not options.prompt:
        parser.error("a prompt or --chat is needed")
    return options


def make_request(model, options, number, tokens):
    request = {"id": str(number), "tokens": tokens, "max_new_tokens": options.max_new_tokens,
               "stop_tokens": model.stops, **model.sampling, "seed": options.seed + number}
    for key in ("temperature", "top_k", "top_p", "min_p"):
        if getattr(options, key) is not None:
            request[key] = getattr(options, key)
    return request


def write(text):
    if sys.stdout is None:
        raise GenerateFailure("standard output is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise GenerateFailure(f"standard output: {error.strerror}")


def check_text(what, text):
    """Bytes that are no UTF-8 come as halves of surrogate pairs, which no tokenizer takes."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise GenerateFailure(f"{what}: not UTF-8")
    return text


def read_input(read):
    """What `read`, of standard input, returns."""
    if sys.stdin is None:
        raise GenerateFailure("standard input is closed")
    try:
        return read(sys.stdin)
    except UnicodeDecodeError:
        raise GenerateFailure("standard input: not UTF-8")
    except OSError as error:
        raise GenerateFailure(f"standard input: {error.strerror}")


def read_prompts(options):
    return [check_text(f"prompt {number + 1}", read_input(lambda file: file.read()) if p == "-" else p)
            for number, p in enumerate(options.prompt)]


def encode_prompts(model, options, prompts):
    if options.raw:
        encoded = [model.tokenizer.encode(p).ids for p in prompts]
    else:
        form = ChatFormat(model)
        encoded = [form.tokens(conversation(options.system, p)) for p in prompts]
    for number, tokens in enumerate(encoded):
        if not tokens:
            raise GenerateFailure(f"prompt {number + 1}: empty; a model needs at least one token")
    return encoded


class Answers:
    """The texts of several requests, shown in order: of those that are not finished, the first
    one as it comes, the others when it is their turn. `figures` has a row for each request, with
    the seconds from the end of the answer before it to its first token."""

    def __init__(self, model, headings):
        count = len(headings)
        self.streams = [Detokenizer(model.tokenizer) for _ in range(count)]
        self.headings = headings
        self.held = [""] * count
        self.finished = [False] * count
        self.errors = {}
        self.figures = [{} for _ in range(count)]
        self.since = time.monotonic()
        self.shown = 0
        if count > 1:
            write(f"{headings[0]}\n")

    def take(self, answer):
        number = int(answer["id"])
        if not self.figures[number]:
            self.figures[number]["first_token_seconds"] = time.monotonic() - self.since
        if "error" in answer:
            self.errors[number] = answer["error"]
        if "token" in answer:
            self.held[number] += self.streams[number].push(answer["token"])
        else:
            self.held[number] += self.streams[number].finish()
            self.finished[number] = True
            self.figures[number].update((key, answer[key]) for key in ("prompt_tokens", "cached_tokens") if key in answer)
            self.since = time.monotonic()
        while self.shown < len(self.held):
            write(self.held[self.shown])
            self.held[self.shown] = ""
            if not self.finished[self.shown]:
                return
            self.shown += 1
            write("\n" if self.shown == len(self.held) else f"\n{self.headings[self.shown]}\n")


def one_after_the_other(requests):
    """Arrival steps by which each request finds the one before it complete: a step computes at
    least one token of a request that runs alone."""
    step = 0
    for request in requests:
        request["arrival_step"] = step
        step += len(request["tokens"]) + request["max_new_tokens"] + 1


def answer_prompts(model, options, start):
    """All prompts in one run of kv-run."""
    prompts = read_prompts(options)
    requests = [make_request(model, options, number, tokens)
                for number, tokens in enumerate(encode_prompts(model, options, prompts))]
    headings = [f"--- {number + 1}" for number in range(len(requests))]
    if options.one_by_one:
        one_after_the_other(requests)
        headings = [f"\n> {prompt}" if number else f"> {prompt}" for number, prompt in enumerate(prompts)]
    runner = start(requests)
    answers = Answers(model, headings)
    for answer in runner.answers():
        answers.take(answer)
    status = runner.close()
    for number in sorted(answers.errors):
        print(f"kv-generate: {answers.errors[number]}", file=sys.stderr)
    if not all(answers.finished):
        raise GenerateFailure(f"kv-run: ended with status {status} before all answers")
    if options.one_by_one and runner.statistics is not None:
        # Until the first token of the first prompt the weights were loaded as well.
        answers.figures[0]["first_token_seconds"] -= runner.statistics.get("load_seconds", 0)
        runner.statistics["answers"] = answers.figures
    return 1 if answers.errors else 0


def converse(model, options, start):
    """One kv-run for the whole conversation: each turn finds the ones before it in the cache."""
    form, turns, number = ChatFormat(model), [], 0
    runner = start(None)
    while True:
        if sys.stdin and sys.stdin.isatty():
            write("> ")
        line = check_text("standard input", read_input(lambda file: file.readline()))
        if not line:
            return runner.close()
        if not line.strip():
            continue
        tokens = form.tokens(conversation(options.system, *turns, line.strip()))
        stream, text = Detokenizer(model.tokenizer), ""
        for answer in runner.ask(make_request(model, options, number, tokens)):
            if "error" in answer:
                raise GenerateFailure(answer["error"])
            piece = stream.push(answer["token"]) if "token" in answer else stream.finish()
            text += piece
            write(piece)
        write("\n")
        turns += [line.strip(), text]
        number += 1


def run(options):
    if options.system is not None:
        check_text("--system", options.system)
    model = ModelFolder(options.model)
    program = find_kv_run(options.kv_run)
    threads = ["--threads", str(options.threads)] if options.threads else []
    runners = []

    def start(requests):
        runners.append(Runner(program, model, threads, requests))
        return runners[-1]

    try:
        status = (converse if options.chat else answer_prompts)(model, options, start)
    finally:
        for runner in runners:
            runner.stop()
    statistics = [r.statistics for r in runners if r.statistics is not None]
    if options.stats and statistics:
        text = json.dumps(statistics[-1], indent=2) + "\n"
        if options.stats == "-":
            sys.stderr.write(text)
        else:
            try:
                Path(options.stats).write_text(text, encoding="utf-8")
            except OSError as error:
                raise GenerateFailure(f"--stats {options.stats}: {error.strerror}")
    return status


def main(arguments=None):
    options = parse(arguments)
    try:
        return run(options)
    except GenerateFailure as error:
        print(f"kv-generate: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Who read has what it wanted. Python's own last flush must not fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        print(f"kv-generate: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
