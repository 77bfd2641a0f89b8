"""Random courses of requests, on vLLM's manager and on ours."""

import random

from vllm_requests import SIZE, event_fields, found, make, request, start
from vllm.v1.core import kv_cache_manager as theirs
from vllm.v1.request import RequestStatus

from kvmlir import vllm_manager as ours


class Memory:
    """What a worker writes to blocks: what a request reads of its computed tokens must be its own."""

    def __init__(self):
        self.places = {}

    def step(self, manager, one, begin, end):
        ids = manager.get_block_ids(one.request_id)[0]
        tokens = list(one.all_token_ids)
        for at in range(begin):
            assert self.places[ids[at // SIZE], at % SIZE] == (at, tokens[at]), (one.request_id, at)
        for at in range(begin, end):
            self.places[ids[at // SIZE], at % SIZE] = at, tokens[at] if at < len(tokens) else None
        assert 0 not in ids


class Walk:
    """One random course of requests; the answers of a manager. repeats: whether blocks may be computed twice, which
    the managers treat differently."""

    def __init__(self, kind, seed, repeats):
        self.random, self.repeats = random.Random(seed), repeats
        self.manager = make(kind, self.random.choice((9, 17, 40, 100)), watermark=self.random.choice((0, 0.1)))
        self.memory, self.answers = Memory(), []
        self.running, self.waiting, self.popped, self.made = [], [], [], 0
        pick = self.random.randrange
        self.prefixes = [[pick(50) for _ in range(pick(1, 40))] for _ in range(4)]

    def tell(self, *answers):
        self.answers.append(answers)

    def fresh(self, count):
        return [1000 + self.random.randrange(10**6) for _ in range(count)]

    def admit(self):
        if self.waiting and self.random.random() < 0.7:
            one = self.waiting.pop(0)
        else:
            prefix = self.random.choice(self.prefixes)
            tokens = prefix[:self.random.randrange(len(prefix) + 1)] + self.fresh(self.random.randrange(1, 30))
            if self.repeats and self.random.random() < 0.5:
                tokens = prefix.copy()
            elif not self.repeats and len(tokens) % SIZE == 0:
                tokens += self.fresh(1)
            self.made += 1
            one = request(f"{self.made}", tokens)
        chunk = self.random.choice((None, 3, 8, 11)) if self.repeats else None
        got = start(self.manager, one, chunk, full_sequence_must_fit=self.random.random() < 0.5,
                    reserved_blocks=self.random.choice((0, 0, 2)), has_scheduled_reqs=bool(self.running))
        self.tell("admit", got)
        if got is None:
            self.waiting.append(one)
            return
        self.memory.step(self.manager, one, got, one.num_computed_tokens)
        self.running.append(one)

    def decode(self):
        for one in self.running.copy():
            if one not in self.running:
                continue
            if one.num_computed_tokens == one.num_tokens:
                one.append_output_token_ids([7] if self.repeats else self.fresh(1))
            drafts = self.random.choice((0, 0, 3)) if one.num_computed_tokens + 1 == one.num_tokens else 0
            new = one.num_tokens - one.num_computed_tokens + drafts
            while (got := self.manager.allocate_slots(one, new, num_lookahead_tokens=drafts)) is None:
                victim = self.running[-1]
                self.tell("preempted", victim.request_id)
                self.stop(victim)
                if victim is one:
                    break
            if got is not None:
                self.tell("decode", sum(map(len, got.get_block_ids())))
                self.memory.step(self.manager, one, one.num_computed_tokens, one.num_computed_tokens + new)
                one.num_computed_tokens = one.num_tokens

    def stop(self, one):
        self.running.remove(one)
        self.manager.free(one)
        # A last block that is full would be computed twice.
        if not self.repeats and one.num_tokens % SIZE == 0:
            one.append_output_token_ids(self.fresh(1))
        one.status, one.num_computed_tokens = RequestStatus.PREEMPTED, 0
        one.num_preemptions += 1
        self.waiting.append(one)

    def finish(self):
        if self.running:
            one = self.running.pop(self.random.randrange(len(self.running)))
            if self.random.random() < 0.5:
                self.popped.append(self.manager.pop_blocks_for_free(one))
            else:
                self.manager.free(one)

    def give_back(self):
        if self.popped:
            self.manager.block_pool.free_blocks(reversed(self.popped.pop(0)))

    def forget(self):
        if self.random.random() < 0.1:
            self.tell("reset", self.manager.reset_prefix_cache())

    def run(self, steps):
        for _ in range(steps):
            self.random.choices((self.admit, self.decode, self.finish, self.give_back, self.forget), (4, 8, 1.5, 1, 0.3))[0]()
            events = [event_fields(event) for event in self.manager.take_events()]
            # A step's evictions come in another order, that of the blocks.
            self.tell(round(self.manager.usage, 9), sorted(events, key=repr),
                      [found(self.manager, prefix + [5000]) for prefix in self.prefixes])
        if isinstance(self.manager, ours.KVCacheManager):
            self.manager.engine.check()
        for one in self.running:
            self.manager.free(one)
        while self.popped:
            self.give_back()
        assert self.manager.usage == 0
        return self.answers


def compare_walks(count):
    checked = hits = 0
    for seed in range(count):
        answers = [Walk(kind, seed, False).run(120) for kind in (theirs.KVCacheManager, ours.KVCacheManager)]
        for step, (one, other) in enumerate(zip(*answers, strict=True)):
            assert one == other, f"walk {seed}, answer {step}: vLLM's {one}, ours {other}"
        checked += len(answers[0])
        hits += sum(1 for one in answers[0] if one[0] == "admit" and one[1])
    for seed in range(count):
        Walk(ours.KVCacheManager, seed, True).run(120)
    assert hits > count
    print(f"vLLM: {checked} answers of {count} walks are equal, {hits} requests had hits; {count} walks with equal blocks "
          "read what they wrote")
