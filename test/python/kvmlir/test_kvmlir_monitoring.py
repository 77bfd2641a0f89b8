"""Events, metrics and resets of a manager that Python has made: the C interface alone has them."""

import gc

import zmq

import kvmlir
from kv_import import synthetic
from subscriber import Subscriber, block_hashes
from test_metrics import free_port, scrape, value
from tools import KV_IMPORT, run


def test_a_server_is_watched(tmp_path):
    """By its manager's metrics, at a port that was free."""
    config = synthetic.make_config("llama")
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config))
    assert run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path / "model", "--page", "16").returncode == 0
    kvmlir.compile(tmp_path / "model")
    model = kvmlir.load(tmp_path / "model", num_threads=1)
    assert model.create_manager(2, num_pages=40, warn=False).metrics_port == 0
    manager = model.create_manager(2, num_pages=40, warn=False, metrics="127.0.0.1:0", metrics_vllm="m")
    names = {sample[0] for sample in scrape(manager.metrics_port)[0]}
    assert "kv_pages" in names and "kv_requests_total" not in names
    server = kvmlir.Server(model, manager)
    server.add([5, 6], max_new_tokens=3)
    server.add([5, 7], max_new_tokens=None).abort()
    server.run()
    samples, _ = scrape(manager.metrics_port)
    assert value(samples, "kv_requests_total") == 2 == 1 + value(samples, "kv_requests_finished_total", reason="abort")
    assert value(samples, "vllm:generation_tokens_total", model_name="m", engine="0") == 3
    del server
    gc.collect()
    assert {sample[0] for sample in scrape(manager.metrics_port)[0]} == names


def test_a_manager_is_watched(tmp_path):
    port, end = free_port(), f"ipc://{tmp_path}/"
    lines = []
    params = kvmlir.KVCacheParams("f16", 1, 1, 1, page_size=4, enable_prefix_caching=True)
    manager = kvmlir.PagedKVCacheManager(
        params, 1, 64, 1, None, None, 0, num_pages=20, events=f"{end}e", events_replay=f"{end}r",
        events_topic="kv@c", reset_endpoint=f"{end}reset", metrics=f"127.0.0.1:{port}",
        metrics_vllm="c", command=lambda replica, line: lines.append((replica, line)))
    router = Subscriber(f"{end}e", f"{end}r", topic=b"kv@c")
    router.resync()
    context = kvmlir.TextGenerationContext(list(range(9)))
    manager.claim(context.request_id)
    manager.alloc(context)
    manager.fetch([context])
    samples, _ = scrape(port)
    assert value(samples, "kv_pages_used", replica="0") == 3
    assert value(samples, "vllm:kv_cache_usage_perc", model_name="c", engine="0") == 3 / 20
    context.advance()
    manager.step([context])
    router.drain()
    assert router.findable() == set(block_hashes(4, list(range(8))))
    ask = zmq.Context.instance().socket(zmq.REQ)
    ask.connect(f"{end}reset")
    ask.send(b"")
    for _ in range(100):
        manager.fetch([])
        if ask.poll(20):
            break
    assert ask.recv() == b"ok"
    router.drain()
    assert router.blocks == {}
    ask.close(linger=0)
    router.close()
    # The command log, which replays them.
    assert lines and all(replica == 0 and "\n" not in line for replica, line in lines)
