"""Who may use kv-serve: pages under which names, with which keys, through what; and what it says of itself."""

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.request

import pytest

from attacks import EATER, asked, connect, post, read_answer
from canary import with_template
from kv_serve.bodies import ChatRequest, CompletionRequest
from serve_process import KV_SERVE, Serve, make_tiny
from tools import KV_GENERATE, KV_IMPORT, ROOT, open_own

COMPLETION = asked(prompt="a")
KEYS = ("first-key", "second-key", "third-key")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="module")
def plain(folder):
    """Its environment names a proxy that is not there; its template can take what it likes."""
    proxy = {name: "http://127.0.0.1:9" for name in ("http_proxy", "HTTP_PROXY", "all_proxy")}
    with Serve(with_template(folder, folder.parent / "eater", EATER), "--log-level", "info",
               env={**os.environ, **proxy}) as server:
        yield server


@pytest.fixture(scope="module")
def guarded(folder, tmp_path_factory):
    file = tmp_path_factory.mktemp("keys") / "keys"
    file.write_text(f"{KEYS[1]}\n\n")
    with Serve(folder, "--api-key", KEYS[0], "--api-key-file", file, "--allow-host", "models.example",
               "--allow-origin", "https://page.example", env={**os.environ, "KV_SERVE_API_KEY": KEYS[2]}) as server:
        yield server


def ask(server, method, path, body=None, **headers):
    """(status, headers, object)"""
    data = b"" if body is None else json.dumps(body).encode()
    lines = {"Host": f"localhost:{server.port}", "Connection": "close", "Content-Length": str(len(data)), **{
        name.replace("_", "-"): value for name, value in headers.items()}}
    with connect(server.port) as connection:
        said = (f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", "")
        connection.sendall("\r\n".join(said).encode() + data)
        first, _, rest = read_answer(connection).partition(b"\r\n\r\n")
    first, *found = first.decode().split("\r\n")
    return (int(first.split()[1]), {line.partition(": ")[0].lower(): line.partition(": ")[2] for line in found},
            json.loads(rest) if rest.startswith(b"{") else rest)


PATHS = (("GET", "/v1/models", None), ("GET", "/health", None), ("POST", "/v1/completions", COMPLETION),
         ("POST", "/reset_prefix_cache", None))


@pytest.mark.parametrize("method, path, body", PATHS)
def test_hosts(plain, guarded, method, path, body):
    """A page whose name leads to this machine has a Host of its own."""
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1",
                 "", "[::2]", "[", "a" * 1000):
        status, _, answer = ask(plain, method, path, body, Host=host)
        assert status == 403 and "is not served here, allowed: localhost, 127.0.0.1" in answer["error"]["message"], host
        assert len(answer["error"]["message"]) < 250
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1", "127.9.9.9", "[::1]:80", "a.localhost", "localhost."):
        assert ask(plain, method, path, body, Host=host)[0] == 200
    key = {"Authorization": f"Bearer {KEYS[0]}"}
    assert ask(guarded, method, path, body, Host="Models.Example:80", **key)[0] == 200
    assert ask(guarded, method, path, body, Host="other.example", **key)[0] == 403


def test_pages_from_elsewhere(plain, guarded):
    """May not ask for work; their browsers keep what else is answered."""
    for origin in ("http://evil.example", "null", "http://localhost:1", "https://page.example"):
        for path, body in (("/v1/completions", COMPLETION), ("/v1/chat/completions", {}),
                           ("/reset_prefix_cache", None)):
            status, headers, answer = ask(plain, "POST", path, body, Origin=origin, Content_Type="text/plain")
            assert (status, answer["error"]["message"]) == (
                403, f"pages of '{origin}' may not use this server; --allow-origin lets them")
            assert "access-control-allow-origin" not in headers
        assert "access-control-allow-origin" not in ask(plain, "GET", "/v1/models", Origin=origin)[1]
    own = {"Origin": f"http://localhost:{plain.port}"}
    assert ask(plain, "POST", "/v1/completions", COMPLETION, **own)[0] == 200
    friend, key = {"Origin": "https://page.example"}, {"Authorization": f"Bearer {KEYS[0]}"}
    status, headers, _ = ask(guarded, "POST", "/v1/completions", COMPLETION, **friend, **key)
    assert status == 200 and headers["access-control-allow-origin"] == "https://page.example"
    status, headers, _ = ask(guarded, "OPTIONS", "/v1/completions", **friend, Access_Control_Request_Method="POST",
                             Access_Control_Request_Headers="authorization,content-type")
    assert status == 200 and headers["access-control-allow-origin"] == "https://page.example"
    assert ask(guarded, "POST", "/v1/completions", COMPLETION, Origin="http://evil.example", **key)[0] == 403


def test_keys(guarded):
    for key in KEYS:
        assert ask(guarded, "POST", "/v1/completions", COMPLETION, Authorization=f"Bearer {key}")[0] == 200
        assert ask(guarded, "GET", "/metrics", Authorization=f"bearer {key}")[0] == 200
    for method, path, body in PATHS:
        for given, sentence in (({}, "an API key is needed: Authorization: Bearer KEY"),
                                ({"Authorization": "Basic Zmlyc3Q="}, "an API key is needed"),
                                ({"Authorization": "Bearer first-keY"}, "the API key is none of this server's"),
                                ({"Authorization": "Bearer " + "é" * 50}, "the API key is none of this server's")):
            status, headers, answer = ask(guarded, method, path, body, **given)
            if path == "/health":
                assert status == 200
                continue
            assert status == 401 and sentence in answer["error"]["message"]
            assert (headers["www-authenticate"], answer["error"]["code"]) == ("Bearer", "invalid_api_key")
    import openai
    client = openai.OpenAI(base_url=guarded.url + "/v1", api_key=KEYS[1], max_retries=0)
    assert [one.id for one in client.models.list()] == ["tiny"]
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=guarded.url + "/v1", api_key="none", max_retries=0).models.list()


def test_no_proxy_for_own_addresses(plain):
    status, _, text = ask(plain, "GET", "/metrics")
    assert status == 200 and b"kv_pages_used" in text


def test_tls(folder, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days",
                    "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True,
                   capture_output=True)
    with Serve(folder, "--tls-cert", cert, "--tls-key", key) as server:
        assert server.url == f"https://127.0.0.1:{server.port}"
        trust = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=cert))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trust)
        body = json.dumps(COMPLETION).encode()
        with opener.open(urllib.request.Request(server.url + "/v1/completions", body), timeout=60) as answer:
            assert json.load(answer)["usage"]["completion_tokens"] == 4
        with connect(server.port) as connection:  # no handshake
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert not read_answer(connection).startswith(b"HTTP")
        assert server.end() == (0, "")
    for given, sentence in ((("--tls-cert", key, "--tls-key", key), "no certificate with its key"),
                            (("--tls-cert", cert, "--tls-key", cert), "no certificate with its key"),
                            (("--tls-cert", tmp_path / "none", "--tls-key", key), "none: No such file")):
        assert sentence in fails(folder, *given)


def fails(*given, status=1):
    done = subprocess.run([sys.executable, KV_SERVE, *map(str, given)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status and len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_keys_that_are_none(folder, tmp_path):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff")
    assert "no key, at least one line is needed" in fails(folder, "--api-key-file", tmp_path / "empty")
    assert "binary: not UTF-8" in fails(folder, "--api-key-file", tmp_path / "binary")
    assert "no-file: No such file" in fails(folder, "--api-key-file", tmp_path / "no-file")
    assert "other characters than printable ones of ASCII" in fails(folder, "--api-key", "a b")
    assert "--tls-cert is given, and no --tls-key" in fails(folder, "--tls-cert", "c", status=2)
    assert "--max-connections is 1000000, allowed: at most " in fails(folder, "--max-connections", 1_000_000)


# ---- Templates ------------------------------------------------------------------------------------------


def chat(content, **more):
    return asked(messages=[{"role": "user", "content": content, **more}])


@pytest.mark.parametrize("content, sentence", (
    ("time", "the chat template refuses these messages: it takes more than 1 s or 512 MiB for them"),
    ("memory", "the chat template refuses these messages: MemoryError"),
    ("text", "bytes, the model takes at most 512 tokens, none of them of more than")))
def test_a_template_that_takes_too_much(plain, content, sentence):
    status, answer = post(plain.port, "/v1/chat/completions", chat(content, count=9))
    assert status == 400 and sentence in json.loads(answer)["error"]["message"]
    assert post(plain.port, "/v1/chat/completions", chat("a"))[0] == 200


@pytest.mark.parametrize("template, sentence", (
    ("{% if %}", "chats are refused: bad chat template: Expected an expression, got 'end of statement block'"),
    ("{{ 7 ** (10**8) }}", "chats are refused: bad chat template: compiling it takes more than 1 s or 512 MiB")))
def test_a_template_that_does_not_compile(folder, tmp_path, template, sentence):
    """Is said once, and only chats are refused."""
    with Serve(with_template(folder, tmp_path / "model", template)) as server:
        said = [line for line in server.before if "chats are refused" in line]
        assert said == [f"kv-serve: note: {sentence}\n"]
        for _ in range(2):
            status, answer = post(server.port, "/v1/chat/completions", chat("a"))
            assert status == 400 and json.loads(answer)["error"]["message"] == sentence.partition(": ")[2]
        assert post(server.port, "/v1/completions", COMPLETION)[0] == 200
        assert server.end() == (0, "")


def test_a_template_whose_constants_take_too_much(folder, tmp_path):
    """They are computed when it is compiled, and not there."""
    with Serve(with_template(folder, tmp_path / "model", "{{ 'a' * (10**9) }}")) as server:
        status, answer = post(server.port, "/v1/chat/completions", chat("a"))
        assert status == 400 and "refuses these messages: MemoryError" in json.loads(answer)["error"]["message"]
        assert server.end() == (0, "")


# ---- What it says of itself -----------------------------------------------------------------------------


def test_openapi(plain):
    status, _, found = ask(plain, "GET", "/openapi.json")
    assert status == 200 and found["openapi"] == "3.1.0"
    schemas = found["components"]["schemas"]
    for kind in (ChatRequest, CompletionRequest):
        assert set(schemas[kind.__name__]["properties"]) == set(kind.model_fields)
        assert schemas[kind.__name__]["additionalProperties"] is False
    assert schemas["ChatRequest"]["required"] == ["messages"]
    assert schemas["CompletionRequest"]["properties"]["temperature"]["anyOf"][0] == {
        "type": "number", "minimum": 0, "maximum": 2}

    def follow(value):
        if isinstance(value, dict):
            if "$ref" in value:
                assert value["$ref"].removeprefix("#/components/schemas/") in schemas
            list(map(follow, value.values()))
        elif isinstance(value, list):
            list(map(follow, value))

    follow(found)
    for path in found["paths"]:
        assert ask(plain, "OPTIONS", path)[0] != 404


def test_docs(plain):
    """A page of the same paths, without scripts, and the version."""
    with open_own(f"http://127.0.0.1:{plain.port}/docs", timeout=60) as answer:
        text = answer.read().decode()
    described = ask(plain, "GET", "/openapi.json")[2]
    assert all(f" {path}</h2>" in text for path in described["paths"])
    assert "<td>max_completion_tokens<td><td>goes before max_tokens<td>" in text and "<script" not in text
    assert ask(plain, "GET", "/version")[2] == {"version": described["info"]["version"]}


def test_the_log_has_reasons(folder):
    with Serve(folder, "--log-level", "info") as server:
        cache = [line for line in server.before if "the cache has" in line]
        assert cache == ["kv-serve: note: the cache has 128 pages of 16 tokens, 0.5 MiB; a request may have 512 "
                         "tokens, a step 16 requests\n"]
        assert ask(server, "POST", "/v1/completions", {**COMPLETION, "n": 33}, X_Request_Id="mine")[0] == 400
        secret = "what the log must not have"
        assert ask(server, "POST", "/v1/completions", {**COMPLETION, "prompt": {"text": secret}})[0] == 400
        _, headers, answer = ask(server, "POST", "/v1/completions", {
            **COMPLETION, "prompt": 40 * "a" + secret, "ignore_eos": True})  # else an answer may have no token
        ask(server, "GET", "/no%0Asuch?%0A", X_Request_Id="two words")
        status, printed = server.end()
    lines = [dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)', line)) for line in printed.splitlines()
             if line.startswith("INFO:     request ")]
    assert status == 0 and secret not in printed and len(lines) == 4
    assert lines[0]["id"] == "mine" and lines[0]["status"] == "400"
    assert lines[0]["reason"] == '"n is 33, allowed: an integer from 1 to 32"'
    assert lines[1]["reason"].startswith('"prompt is a dict, allowed: a string')
    given = {name: int(lines[2][name]) for name in ("prompt", "cached", "new", "status")}
    usage = answer["usage"]
    assert given == {"prompt": usage["prompt_tokens"], "cached": 0, "new": usage["completion_tokens"], "status": 200}
    assert 0 < float(lines[2]["first"]) <= float(lines[2]["total"])
    assert lines[2]["id"] == headers["x-request-id"] != lines[3]["id"] and len(lines[3]["id"]) == 32
    assert lines[3]["path"] == "/no%0Asuch"


@pytest.mark.parametrize("tool", (KV_IMPORT, KV_GENERATE, KV_SERVE), ids=lambda tool: tool.name)
def test_version(tool):
    done = subprocess.run([sys.executable, tool, "--version"], capture_output=True, text=True, timeout=60)
    number = (ROOT / "CMakeLists.txt").read_text().partition("project(kv-mlir VERSION ")[2].split()[0]
    assert (done.returncode, done.stdout) == (0, f"{tool.name} {number}\n")


@pytest.mark.parametrize("tool, least", ((KV_GENERATE, 15), (KV_SERVE, 30)), ids=lambda one: getattr(one, "name", ""))
def test_help_has_a_text_for_each_option(tool, least):
    done = subprocess.run([sys.executable, tool, "--help"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "COLUMNS": "400"})
    lines = done.stdout.splitlines()
    options = [i for i, line in enumerate(lines) if line.startswith("  -")]
    assert len(options) >= least
    for i in options:  # beside a short one, below a long one
        assert "  " in lines[i].strip() or lines[i + 1].startswith(" " * 10), lines[i]


@pytest.mark.parametrize("has_folder", (False, True))
def test_bindings_that_are_not_built(tmp_path, has_folder):
    """Configuring a build makes the package's folder, in which nothing is."""
    for name in ("kv-serve", "kv-generate"):
        shutil.copytree(ROOT / "tools" / name, tmp_path / "tools" / name)
    shutil.copy(ROOT / "tools/kv_launcher.py", tmp_path / "tools")
    if has_folder:
        (tmp_path / "build/release/python/kvmlir").mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, tmp_path / "tools/kv-serve/kv-serve", "--help"], capture_output=True,
                          text=True, timeout=60, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "kv-serve: the Python package kvmlir is missing; `pip install .` in a checkout, or a build of the target "
           "kvmlir-python, has it\n")
