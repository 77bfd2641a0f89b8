"""Events, metrics and resets of a manager that Python has made: the C interface alone has them."""

import zmq

import kvmlir
from subscriber import Subscriber, block_hashes
from test_metrics import free_port, scrape, value


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
