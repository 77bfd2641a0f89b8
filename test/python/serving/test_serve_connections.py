"""Connections of kv-serve: what is late, too much or of odd form ends alone, and nothing of it is in the log."""

import asyncio
import json
import os
import re
import signal
import socket
import struct
import threading
import time

import pytest
import uvicorn
from uvicorn.server import ServerState

import attacks
from attacks import asked, connect, head, read_answer
from kv_serve.http_server import listen
from kv_serve.protocol import Limits, Protocol
from serve_process import Serve, make_tiny
from test_metrics import free_port, scrape, value

PATH = "/v1/completions"
LONG = {"max_tokens": 400, "ignore_eos": True, "temperature": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="module")
def server(folder):
    port = free_port()
    with Serve(folder, "--max-connections", 6, "--header-seconds", 0.5, "--body-seconds", 1, "--body-bytes", 1 << 20,
               "--pages", 64, "--metrics", f"127.0.0.1:{port}") as server:
        server.metrics_port = port
        yield server
        assert server.is_idle() and server.end() == (0, "")


def request(body, path=PATH, *lines):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return head(path, len(body), *lines) + body


def parse(answer):
    """(status, the body) of the last answer in these bytes."""
    last = list(re.finditer(rb"HTTP/1\.1 (\d+) [^\r]*\r\n", answer))[-1]
    body = answer[last.end():].partition(b"\r\n\r\n")[2]
    return int(last[1]), json.loads(body) if body.startswith(b"{") else body


def say(server, *parts, end=False):
    """What is answered until the server closes."""
    with connect(server.port) as connection:
        for part in parts:
            connection.sendall(part)
        if end:
            connection.shutdown(socket.SHUT_WR)
        return read_answer(connection)


CLOSE = "Connection: close"


@pytest.mark.parametrize("sent, status, sentence", (
    (b"GET /health HTTP/1.1\r\nHost: local", 408, "the head of the request is not there after 0.5 s"),
    (head(PATH, 100) + b"{", 408, "the body of the request is not there after 1 s"),
    (head("/health", 100), 405, "POST /health: Method Not Allowed"),
    (b"nonsense\r\n\r\n", 400, "what was sent is no HTTP/1.1 request"),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 300 + b"\r\n", 400, "no HTTP/1.1 request"),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\na: " + b"b" * 140_000, 400, "no HTTP/1.1 request"),
    (b"GET /" + b"a" * 1000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 404, "aaa...: Not Found"),
    (request({**asked(prompt="a"), "model": "b" * 10_000}, PATH, CLOSE), 404, "bbb... is not there, only 'tiny'"),
    (request({**asked(prompt="a"), "b" * 10_000: 1}, PATH, CLOSE), 400, "bbb... is no field that kv-serve knows"),
    (request({**asked(prompt="a"), "\ud800": 1}, PATH, CLOSE), 400,
     "the name of a field has half of a surrogate pair"),
    (request(asked(messages=[{"role": "user", "content": "a", "more": [{"b": "\udfff"}]}]), "/v1/chat/completions",
             CLOSE), 400, "messages[0].more[0].b has half of a surrogate pair"),
    (request(asked(prompt="x" * 100_000), PATH, CLOSE), 400,
     "a prompt has 100000 bytes, the model takes at most 512 tokens, none of them of more than"),
    (request(asked(prompt="a", stop_token_ids=[1] * 257), PATH, CLOSE), 400, "a list of token ids, at most 256"),
    (request(asked(prompt="a", stop="b" * 257), PATH, CLOSE), 400, "none of them empty or of more than 256 characters"),
    (head(PATH, None, "Transfer-Encoding: chunked") + b"zz\r\n", 400, "no HTTP/1.1 request"),
    (b"GET /health HTTP/1.1\r\n\r\n", 400, "no HTTP/1.1 request"),
    (b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "no HTTP/1.1 request"),
    (head(PATH, 2, "Content-Length: 3") + b"{}", 400, "no HTTP/1.1 request")),
    ids=lambda one: str(one)[:60])
def test_one_sentence(server, sent, status, sentence):
    have, body = parse(say(server, sent))
    assert have == status and sentence in body["error"]["message"], body
    assert len(body["error"]["message"]) < 400


def test_who_says_nothing_is_told_nothing(server):
    assert say(server) == b""


def test_an_answer_wakes_its_client_once(server):
    with connect(server.port) as connection:
        for _ in range(20):
            connection.sendall(request({"prompt": [1], "max_tokens": 1}))
            assert parse(connection.recv(1 << 16))[0] == 200


def test_bodies_in_pieces(server):
    """Of one byte, in chunks and without, and two requests at once: the turns change no answer."""
    _, want = parse(say(server, request(asked(prompt="abc", temperature=0), PATH, CLOSE)))
    body = json.dumps(asked(prompt="abc", temperature=0)).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % one for one in body) + b"0\r\n\r\n"
    _, have = parse(say(server, head(PATH, None, "Transfer-Encoding: chunked", CLOSE) + chunks))
    assert have["choices"] == want["choices"]
    _, have = parse(say(server, *(bytes([one]) for one in request(body, PATH, CLOSE))))
    assert have["choices"] == want["choices"]
    both = say(server, request(body) + request(body, PATH, CLOSE))
    assert both.count(b"HTTP/1.1 200") == 2 and parse(both)[1]["choices"] == want["choices"]


@pytest.mark.parametrize("count", (2, 500))
def test_requests_before_the_first_answer(server, count):
    """They are answered one after the other, whatever form their bodies have, and whether or not a request follows."""
    body = json.dumps({"prompt": [1], "max_tokens": 1}).encode()
    chunked = head(PATH, None, "Transfer-Encoding: chunked") + b"%x\r\n%b\r\n0\r\nTrailer: a\r\n\r\n" % (len(body), body)
    for end, statuses in ((b"GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", [b"404"]),
                          (b"nonsense\r\n\r\n", [b"400"]),
                          (head(PATH, None, "Transfer-Encoding: chunked") + b"zz\r\n", [b"400"])):
        answer = say(server, (request(body) + chunked) * (count // 2) + end)
        assert re.findall(rb"HTTP/1\.1 (\d+) ", answer) == [b"200"] * count + statuses


def test_to_another_protocol(server):
    """A client speaks HTTP/1.1 until the server agrees to HTTP/2, as Java's and curl --http2: it never does."""
    upgrade = "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"
    body = json.dumps({"prompt": [1], "max_tokens": 1}).encode()
    answer = say(server, request(body, PATH, *upgrade) + b"GET /none HTTP/1.1\r\nHost: localhost\r\n"
                 b"Connection: close\r\n\r\n")
    assert re.findall(rb"HTTP/1\.1 (\d+) ", answer) == [b"200", b"404"]


def test_the_head_alone(server):
    answer = say(server, b"HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize("stream", (False, True))
def test_a_client_that_ends_its_side_is_answered(server, stream):
    """With interim answers before, by which the server sees that somebody reads: the later the answer, the more."""
    answer = say(server, request({**asked(prompt="abc", stream=stream), **LONG}), end=True)
    assert b"HTTP/1.1 200 OK" in answer
    assert b'"finish_reason": "length"' in answer or b'"finish_reason":"length"' in answer
    assert stream or re.match(rb"(HTTP/1.1 102 Processing\r\n\r\n)+HTTP/1.1 200", answer)


@pytest.mark.parametrize("how", ("close", "reset"))
def test_who_goes_is_not_waited_for(server, how):
    before = server.figure("kv_requests_finished_total", reason="abort")
    body = {**asked(prompt=["abc", "bcd", "cde", "def"] * 16), **LONG}
    with connect(server.port) as connection:
        connection.sendall(request(body))
        while not server.figure("kv_requests_running"):
            time.sleep(0.005)
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert server.is_idle()
    assert server.figure("kv_requests_finished_total", reason="abort") > before


def test_too_many_connections(server):
    """Who waits longest for the rest of a request makes room; where all are answered, nobody else comes in."""
    idle = [connect(server.port) for _ in range(6)]
    assert parse(say(server, request(asked(prompt="a"), PATH, CLOSE)))[0] == 200
    idle[0].settimeout(0.2)
    assert idle[0].recv(1) == b""
    for one in idle:
        one.close()
    time.sleep(0.1)
    busy = [connect(server.port) for _ in range(6)]
    for one in busy:
        one.sendall(request({**asked(prompt=["abc"] * 128), **LONG}))

    def left():
        time.sleep(0.02)
        samples, _ = scrape(server.metrics_port)
        return sum(value(samples, f"kv_requests_{state}") for state in ("running", "waiting"))

    while left() <= 5 * 128:  # then the sixth is there, too
        pass
    status, body = parse(say(server))
    assert status == 503 and "6 connections are open already, try again later" in body["error"]["message"]
    for one in busy:
        one.close()
    while left():
        pass


def test_bodies_that_are_held(server):
    """Of all together no more than --body-bytes; small ones are always read."""
    large = request(asked(prompt="a" * 900_000))
    with connect(server.port) as first, connect(server.port) as second:
        first.sendall(large[:-1])
        time.sleep(0.2)
        second.sendall(large[:-1])
        status, body = parse(read_answer(second))
        assert status == 503 and "bodies of 1048576 bytes are being read already" in body["error"]["message"]
        assert parse(say(server, request(asked(prompt="a"), PATH, CLOSE)))[0] == 200


@pytest.mark.parametrize("at_once", (False, True))
def test_files_are_left(folder, at_once):
    """A process of few files answers others, whoever holds connections, and fills no log."""
    with Serve(folder, files=160) as server:
        held = []
        if at_once:
            server.process.send_signal(signal.SIGSTOP)
            threading.Timer(0.5, server.process.send_signal, (signal.SIGCONT,)).start()
        for _ in range(200):
            held.append(connect(server.port))
            held[-1].sendall(b"GET /health HTTP/1.1\r\n")
        for _ in range(10):
            assert attacks.post(server.port, PATH, asked(prompt="a"))[0] == 200
        for one in held:
            one.close()
        assert server.end() == (0, "")


def test_who_takes_nothing_is_left():
    """An answer that its client does not read ends after some seconds, and what makes it as well."""
    ended = []

    async def endless(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await asyncio.sleep(0)) is None and not ended:
            await send({"type": "http.response.body", "body": b"a" * 65536, "more_body": True})
            if state.connections == set():
                ended.append(True)

    async def serve():
        loop = asyncio.get_running_loop()
        kind = type("Limited", (Protocol,), {"limits": Limits(write_seconds=0.2)})
        config = uvicorn.Config(endless, http=kind, lifespan="off", log_config=None)
        config.load()
        server = await loop.create_server(
            lambda: kind(config=config, server_state=state, app_state={}), "127.0.0.1", 0)
        with connect(server.sockets[0].getsockname()[1]) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            while not ended:
                await asyncio.sleep(0.02)
        server.close()

    state = ServerState()
    asyncio.run(asyncio.wait_for(serve(), 20))
    assert ended == [True]


def test_who_reads_requests_may_end(folder):
    """Whatever ends the processes that read requests, the next request has one."""
    with Serve(folder) as server:
        nursery = nursery_of(server)
        workers = [int(one) for one in os.listdir("/proc") if one.isdigit() and parent(int(one)) == nursery]
        assert len(workers) == 1
        for process in (nursery, *workers):
            os.kill(process, signal.SIGKILL)
        time.sleep(0.1)
        attacks.post(server.port, PATH, asked(prompt="a"))  # may find a process that has just ended
        for path, body in ((PATH, asked(prompt="a")), ("/v1/chat/completions", asked(messages=[
                {"role": "user", "content": "a"}]))) * 2:
            status, answer = attacks.post(server.port, path, body)
        assert status == 200, answer
        assert server.end() == (0, "")


def test_clients_that_go_before_they_have_a_process(folder):
    """They leave no orders for processes, for whose room the event loop would wait."""
    body = request(asked(messages=[{"role": "user", "content": "a"}]), "/v1/chat/completions")
    with Serve(folder) as server:
        os.kill(nursery_of(server), signal.SIGSTOP)
        for _ in range(400):
            with connect(server.port) as connection:
                connection.sendall(body)
                time.sleep(0.002)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with connect(server.port) as connection:
            connection.settimeout(10)
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        os.kill(nursery_of(server), signal.SIGCONT)
        assert parse(say(server, body.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)))[0] == 200
        assert server.end() == (0, "")


def nursery_of(server):
    [process] = map(int, open(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read().split())
    return process


def parent(process):
    try:
        return int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def test_a_token_does_not_wait_for_the_client():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
