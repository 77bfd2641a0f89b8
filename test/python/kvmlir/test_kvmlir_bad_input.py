"""What Python gives a manager and a session and the runtime does not take: a ValueError with one sentence, and no
std::bad_cast, abort or silence."""

import pytest

import kvmlir
from kv_import import synthetic
from tools import KV_IMPORT, QUICK, run

PARAMS = kvmlir.KVCacheParams("f16", 1, 4, 1, page_size=4, enable_prefix_caching=True)


def paged(**options):
    return kvmlir.PagedKVCacheManager(PARAMS, 1, 64, 1, None, None, 0, num_pages=20, warn=False, **options)


@pytest.mark.parametrize("options, sentence", (
    ({"max_steps": "many"}, "max_steps is 'many', allowed: a number that fits"),
    ({"max_steps": 2**31}, "max_steps is 2147483648, allowed: a number that fits"),
    ({"events": 5}, "events is 5, allowed: a text"),
    ({"asynchronous": "yes"}, "asynchronous is 'yes', allowed: True or False"),
    ({"events": "tcp://*:65536"},
     "cache events: tcp://*:65536 cannot be bound: its port is '65536', allowed: 1 to 65535"),
    ({"reset_endpoint": "tcp://*:70000"},
     "reset socket: tcp://*:70000 cannot be bound: its port is '70000', allowed: 1 to 65535"),
    ({"zmq_endpoint_base": "tcp://127.0.0.1:70000"},
     "reset socket: tcp://127.0.0.1:70000-reset_prefix_cache cannot be connected: its port is "
     "'70000-reset_prefix_cache', allowed: 1 to 65535"),
    ({"metrics": "127.0.0.1:65536"},
     "metrics: the address is '127.0.0.1:65536', allowed: HOST:PORT, PORT from 0 to 65535"),
    ({"events_replay": "ipc://r"}, "events_replay is given, and no events"),
    ({"events_topic": "t"}, "events_topic is given, and no events"),
    ({"events_as_maps": True}, "events_as_maps is given, and no events"),
    ({"events_tiers": True}, "events_tiers is given, and no events"),
    ({"metrics_vllm": "m"}, "metrics_vllm is given, and no metrics")))
def test_managers(options, sentence):
    with pytest.raises(ValueError) as raised:
        paged(**options)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("fields, sentence", (
    ({"head_dim": "four"}, "dim is 'four', allowed: a number that fits"),
    ({"page_size": 4.5}, "page is 4.5, allowed: a number that fits")))
def test_params(fields, sentence):
    with pytest.raises(ValueError) as raised:
        kvmlir.KVCacheParams(**{"dtype": "f16", "n_kv_heads": 1, "head_dim": 4, "num_layers": 1, **fields}).spec()
    assert str(raised.value) == sentence


@pytest.mark.parametrize("threads, sentence", (
    (4097, "session: 4097 threads, allowed: 0 (one for each core) to 4096"),
    (2**40, "num_threads is 1099511627776, allowed: a number that fits"),
    ("two", "num_threads is 'two', allowed: a number that fits")))
def test_threads(threads, sentence):
    with pytest.raises(ValueError) as raised:
        kvmlir.InferenceSession(num_threads=threads)
    assert str(raised.value) == sentence


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    config = synthetic.make_config("llama")
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, folder / "hf", "-o", folder / "model", "--page", "16").returncode == 0
    kvmlir.compile(folder / "model", options=[QUICK])
    return kvmlir.Server(kvmlir.load(folder / "model", num_threads=1))


@pytest.mark.parametrize("fields, sentence", (
    ({"tokens": None}, "tokens is a NoneType, allowed: a list or an array of token ids"),
    ({"max_new_tokens": "many"}, "max_new_tokens is 'many', allowed: a number that fits"),
    ({"max_new_tokens": ""}, "max_new_tokens is '', allowed: a number that fits"),
    ({"temperature": "hot"}, "temperature is 'hot', allowed: a number that fits"),
    ({"temperature": None}, "temperature is None, allowed: a number that fits"),
    ({"top_k": 1.5}, "top_k is 1.5, allowed: a number that fits"),
    ({"top_k": 2**63}, "top_k is 9223372036854775808, allowed: a number that fits"),
    ({"top_p": "x"}, "top_p is 'x', allowed: a number that fits"),
    ({"seed": -1}, "seed is -1, allowed: a number that fits"),
    ({"salt": 5}, "salt is 5, allowed: a text"), ({"id": 5}, "id is 5, allowed: a text")))
def test_requests(server, fields, sentence):
    with pytest.raises(ValueError) as raised:
        server.add(**{"tokens": [1], **fields})
    assert str(raised.value) == sentence and server.num_requests == 0


@pytest.mark.parametrize("number, bits", ((2**31, 32), (-2**31 - 1, 32), (2**63, 64), (-2**64, 64), (10**5000, 64)),
                         ids=range(5))
def test_integers_beyond_their_type(number, bits):
    """Of any call: one sentence, not nanobind's list of signatures."""
    manager, context = paged(), kvmlir.TextContext([1, 2, 3], 1)
    manager.claim(1)
    of_32 = (lambda: manager.claim(2, number), lambda: manager.num_free_blocks_of(number),
             lambda: context.update(number),
             lambda: manager.alloc(context, number), lambda: manager.probe(context, number),
             lambda: manager.get_runtime_inputs([context], number), lambda: context.set_retention(number),
             lambda: context.set_retention(1, 0, number))
    of_64 = (lambda: context.skip(number), lambda: context.rewind(number), lambda: context.limit_active(number),
             lambda: context.append([1], number), lambda: context.add_image(number, 1, bytes(16)),
             lambda: manager.fork(1, kvmlir.TextContext([1], 2), number), lambda: manager.truncate(1, number),
             lambda: manager.blocks_for(number), lambda: manager.set_time(number), lambda: PARAMS.block_shape(number),
             lambda: kvmlir.PagedKVCacheManager.max_supported_sequence_length(PARAMS, 1, number))
    given = str(number) if number < 10**99 else f"of {number.bit_length()} bits"
    for call in of_32 if bits == 32 else of_64:
        with pytest.raises(kvmlir.InvalidArgumentError) as raised:
            call()
        assert str(raised.value) == f"an argument is {given}, allowed: {-2**(bits - 1)} to {2**(bits - 1) - 1}"
    assert context.active_length == 3 and manager.contains(1)


def test_negative_replicas():
    """C takes these for all replicas, or for any."""
    for replica in (-1, -2**31):
        for call, name in ((paged().num_free_blocks_of, "replica is {}, allowed: 0 or more"),
                           (lambda replica: paged().claim(1, replica),
                            "replica_idx is {}, allowed: None, or 0 or more")):
            with pytest.raises(kvmlir.InvalidArgumentError) as raised:
                call(replica)
            assert str(raised.value) == name.format(replica)
