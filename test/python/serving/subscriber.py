"""An index of an engine's cached prefixes, kept from its events.

Written from docs/guides/observability.md and docs/reference/events.md alone: hashes, frames and fields are checked
against these pages."""

import hashlib
import struct

import msgpack
import zmq

END = (1 << 64) - 1  # of a replay or a snapshot


def framed(field):
    if field is None:
        return b"\0"
    data = field.encode()
    return b"\1" + struct.pack("<Q", len(data)) + data


def block_hashes(page_size, tokens, model=None, adapter=None, salt=None):
    """The names of a prompt's full blocks, computed by another program than the runtime."""
    digest = hashlib.sha256(b"kv-root" + framed(model) + framed(adapter) + framed(salt)).digest()
    names = []
    for at in range(0, len(tokens) - len(tokens) % page_size, page_size):
        page = struct.pack(f"<{page_size}i", *tokens[at:at + page_size])
        digest = hashlib.sha256(b"kv-block" + digest + struct.pack("<II", page_size, 0) + page).digest()
        names.append(int.from_bytes(digest[24:], "big"))
    return names


FIELDS = {
    "BlockStored": ("block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium",
                    "lora_name", "extra_keys", "group_idx", "kv_cache_spec_kind",
                    "kv_cache_spec_sliding_window"),
    "BlockRemoved": ("block_hashes", "medium", "group_idx"),
    "AllBlocksCleared": (),
}


def fields(event):
    """An event of either encoding as (type, fields by name)."""
    if isinstance(event, dict):
        return event["type"], {name: value for name, value in event.items() if name != "type"}
    names = FIELDS[event[0]]
    assert len(event) <= len(names) + 1, event
    return event[0], dict(zip(names, event[1:]))


class Subscriber:
    def __init__(self, endpoint, replay, topic=b""):
        self.context = zmq.Context.instance()
        self.events = self.context.socket(zmq.SUB)
        self.events.setsockopt(zmq.SUBSCRIBE, topic)
        self.events.setsockopt(zmq.RECONNECT_IVL, 10)
        self.replay_endpoint = replay
        self.topic = topic
        self.blocks = {}  # name -> (parent, tokens, adapter, extra keys)
        self.expected = None
        self.heard = None  # the last number that came, also of a message that was lost
        self.incarnation = None
        self.batches = []
        self.resyncs = self.replays = self.gaps = 0
        self.connect(endpoint)

    def connect(self, endpoint):
        """Returns when the publisher knows of the subscription: what it sends before is nobody's."""
        monitor = self.events.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self.events.connect(endpoint)
        assert monitor.poll(10_000), f"no publisher at {endpoint}"
        self.events.disable_monitor()
        self.heard = self.status()["sequence"]  # takes the same way, behind the subscription

    def close(self):
        self.events.close(linger=0)

    def ask(self, what, topics=True):
        """The messages that answer a request: (number, payload), the end marker last."""
        socket = self.context.socket(zmq.DEALER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(self.replay_endpoint)
        socket.send_multipart([b"", what])
        answers = []
        try:
            while True:
                assert socket.poll(5000), f"no answer to {what}"
                frames = socket.recv_multipart()
                assert frames[0] == b"" and len(frames) == (4 if topics else 3), frames
                if topics:
                    assert frames[1] == self.topic
                number, payload = int.from_bytes(frames[-2], "big"), frames[-1]
                answers.append((number, payload))
                if number == END or what == b"kv:status":
                    return answers
        finally:
            socket.close()

    def status(self):
        return msgpack.unpackb(self.ask(b"kv:status")[0][1])

    def apply(self, payload):
        time, events, rank = msgpack.unpackb(payload, strict_map_key=False)
        assert time > 1.7e9 and rank == 0
        self.batches.append(events)
        for event in events:
            kind, values = fields(event)
            if kind == "AllBlocksCleared":
                self.blocks.clear()
            elif kind == "BlockRemoved":
                for name in values["block_hashes"]:
                    self.blocks.pop(name, None)
            else:
                self.store(values)

    def store(self, values):
        size, parent, names = values["block_size"], values["parent_block_hash"], values["block_hashes"]
        assert len(values["token_ids"]) == size * len(names)
        extra = values.get("extra_keys") or [None] * len(names)
        for i, name in enumerate(names):
            self.blocks[name] = (parent, values["token_ids"][i * size:(i + 1) * size],
                                 values["lora_name"], extra[i])
            parent = name

    def resync(self):
        self.resyncs += 1
        *batches, (_, end) = self.ask(b"kv:snapshot")
        self.blocks.clear()
        for number, payload in batches:
            self.apply(payload)
        last = msgpack.unpackb(end)
        assert batches[-1][0] == last["sequence"] and len(self.blocks) <= last["blocks"]
        self.incarnation, self.expected = last["incarnation"], last["sequence"] + 1

    def receive(self, number, payload):
        if self.expected is None:
            return self.resync()
        if number < self.expected:  # of before a snapshot, or of another incarnation
            if self.status()["incarnation"] != self.incarnation:
                self.resync()
            return
        if number > self.expected:
            self.gaps += 1
            self.replays += 1
            for number, payload in self.ask(self.expected.to_bytes(8, "big"))[:-1]:
                if number == self.expected:
                    self.apply(payload)
                    self.expected += 1
            if self.expected <= number:
                self.resync()
            return
        self.apply(payload)
        self.expected += 1

    def drain(self, lose=lambda: False):
        """Reads what was published up to now, by the publisher's own count; loses what it is told to."""
        last = self.status()["sequence"]
        while self.heard < last and self.events.poll(10_000):
            topic, number, payload = self.events.recv_multipart()
            assert topic == self.topic and len(number) == 8
            self.heard = int.from_bytes(number, "big")
            if not lose():
                self.receive(self.heard, payload)

    def settle(self):
        """What a subscriber does now and then: the last message may be the lost one."""
        self.drain()
        now = self.status()
        if now["incarnation"] != self.incarnation or now["sequence"] >= self.expected:
            self.resync()

    def findable(self):
        """The blocks that a request can reach from its first one."""
        known = {}

        def reaches(name):
            if name not in known:
                parent = self.blocks[name][0] if name in self.blocks else ""
                known[name] = parent is None or (parent != "" and reaches(parent))
            return known[name]
        return {name for name in self.blocks if reaches(name)}
