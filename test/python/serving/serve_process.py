"""kv-serve as a process, and what its model would answer alone."""

import json
import resource
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import openai

import kvmlir
from kv_generate.chat import ChatFormat
from kv_generate.model_folder import ModelFolder
from kv_import import synthetic
from test_metrics import scrape
from tools import KV_IMPORT, ROOT, open_own, run

KV_SERVE = ROOT / "tools/kv-serve/kv-serve"
PAGE = 16


def make_model(folder):
    """With a byte tokenizer: most of its answers are no valid text. So large that a token takes longer than a
    message of HTTP."""
    config = synthetic.make_config("llama", layers=8, hidden=256, intermediate=1024, heads=8, head_dim=32)
    weights = synthetic.make_weights(config)
    weights["model.embed_tokens.weight"] *= 0.25  # or one token would have all probability
    return import_model(folder, config, weights)


def make_tiny(folder, *options):
    """A quick one: a token takes a fraction of a millisecond."""
    config = synthetic.make_config("llama")
    return import_model(folder, config, synthetic.make_weights(config), *options)


def import_model(folder, config, weights, *options, target=None):
    """options: kv-import's."""
    synthetic.write_hf(folder / "hf", config, weights)
    done = run(KV_IMPORT, folder / "hf", "-o", folder / "model", "--page", str(PAGE), "--name", "tiny", *options)
    assert done.returncode == 0, done.stderr
    kvmlir.compile(folder / "model", target=target)
    return folder / "model"


def chat(*texts, **more):
    """The arguments of a chat request: user, assistant, user, ..."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    return {"model": "tiny", "temperature": 0, "messages": messages, **more}


class Alone:
    """The model in this process: what is right."""

    def __init__(self, folder):
        self.folder = ModelFolder(folder)
        self.model = kvmlir.load(folder, num_threads=1)

    def chat_tokens(self, messages):
        return ChatFormat(self.folder).tokens(messages)

    def text_tokens(self, text):
        return self.folder.tokenizer.encode(text).ids

    def answer(self, tokens, max_new_tokens, stop_tokens=(256, 258), **more):
        """(text, number of tokens)"""
        found = list(kvmlir.generate(self.model, tokens, max_new_tokens=max_new_tokens,
                                     stop_tokens=list(stop_tokens), **more))
        return self.folder.tokenizer.decode(found, skip_special_tokens=True), len(found)


class Serve:
    """A running kv-serve. files: that it may open."""

    def __init__(self, folder, *options, threads=1, env=None, files=None):
        self.process = subprocess.Popen(
            [sys.executable, KV_SERVE, folder, "--port", "0", "--threads", str(threads), *map(str, options)],
            stderr=subprocess.PIPE, text=True, env=env, preexec_fn=files and (
                lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))))
        self.before = []  # lines of the start
        while not (line := self.process.stderr.readline()).startswith("kv-serve: http"):
            assert line, "".join(self.before)
            self.before.append(line)
        self.url = line.split()[1]
        self.port = int(self.url.rpartition(":")[2])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def client(self, kind=openai.OpenAI, **more):
        return kind(base_url=self.url + "/v1", api_key="none", max_retries=0, timeout=60, **more)

    def post(self, path, data):
        """(status, parsed body)"""
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        try:
            with open_own(urllib.request.Request(self.url + path, data), timeout=60) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def figure(self, name, **labels):
        samples, _ = scrape(self.port)
        return samples[(name, *sorted(labels.items()))]

    def is_idle(self):
        """Within a second: all pages are free, and nothing runs or waits."""
        names = ("kv_requests_running", "kv_requests_waiting")
        for _ in range(100):
            left = self.figure("kv_pages_used", replica="0") + sum(map(self.figure, names))
            if not left:
                return True
            time.sleep(0.02)
        return False

    def end(self, number=signal.SIGTERM):
        """(exit status, what was printed)"""
        self.process.send_signal(number)
        printed = self.process.stderr.read()
        return self.process.wait(timeout=30), printed
