"""use_answers.py BASE_URL MODEL: answers to KV_SCHEMAS random JSON schemas (200), each of which is valid by the package
jsonschema where it ended by itself; and KV_PAIRS requests (500) cold and warm, with log probabilities of equal bits,
and of no page computed again. The server has --cached-logprobs 5 and pages of 16 tokens.
KV_ANSWERS_SEED (0): of the first."""

import collections
import concurrent.futures
import datetime
import decimal
import json
import os
import random
import re
import sys
import urllib.error
import urllib.request

import jsonschema

BASE, MODEL = sys.argv[1:3]
SCHEMAS, PAIRS, SEED = (int(os.environ.get(f"KV_{name}", default)) for name, default in (
    ("SCHEMAS", 200), ("PAIRS", 500), ("ANSWERS_SEED", 0)))
NAMES = ["p", "name", "a b", "quote\"", "ü", "back\\slash", "Δ", ""]
PATTERNS = ["^[a-c]{2,5}$", "^\\d{3}-[A-Z]+$", "^(red|green)$", "^x?y*z$"]
FORMATS = ["date", "uuid", "ipv4", "ipv6"]
FAMILIES, PAGE = 15, 16
CHECKER = jsonschema.FormatChecker()


@CHECKER.checks("date", ValueError)
def is_date(value):
    """RFC 3339 has a year 0, a leap year as 2000 is; Python has none."""
    return not isinstance(value, str) or bool(datetime.date.fromisoformat(re.sub("^0000", "2000", value)))


def post(path, body):
    """(status, parsed)"""
    request = urllib.request.Request(BASE + path, json.dumps({"model": MODEL, **body}).encode())
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def a_string(draw, depth):
    kind = draw.randrange(4)
    if kind == 0:
        return {"type": "string", "pattern": draw.choice(PATTERNS)}
    if kind == 1:
        return {"type": "string", "format": draw.choice(FORMATS)}
    least = draw.randrange(4)
    return {"type": "string", "minLength": least, **({"maxLength": least + draw.randrange(9)} if kind == 2 else {})}


def a_number(draw, depth):
    kind, low = draw.choice(["integer", "number"]), draw.randrange(-1000, 1000)
    found = {"type": kind}
    if draw.random() < 0.6:
        found[draw.choice(["minimum", "exclusiveMinimum"])] = low
    if draw.random() < 0.6:
        found[draw.choice(["maximum", "exclusiveMaximum"])] = low + 2 + draw.randrange(500)
    if kind == "integer" and draw.random() < 0.2:
        found = {"type": kind, "multipleOf": draw.choice([2, 5, 10]), "minimum": 0, "maximum": 1000}
    return found


def a_constant(draw, depth):
    values = ["a", "b\n", 1, -2.5, None, True, [1], {"k": 1}]
    return {"const": draw.choice(values)} if draw.random() < 0.3 else {"enum": draw.sample(values, draw.randrange(1, 5))}


def an_object(draw, depth):
    names = draw.sample(NAMES, draw.randrange(5))
    found = {"type": "object", "properties": {name: a_schema(draw, depth - 1) for name in names},
             "required": draw.sample(names, draw.randrange(len(names) + 1)), "additionalProperties": False}
    if draw.random() < 0.2:
        found["additionalProperties"] = a_schema(draw, 0)
    return found


def an_array(draw, depth):
    least = draw.randrange(3)
    found = {"type": "array", "items": a_schema(draw, depth - 1), "minItems": least,
             "maxItems": least + draw.randrange(4)}
    if draw.random() < 0.2:
        found["prefixItems"] = [a_schema(draw, depth - 1) for _ in range(draw.randrange(1, 3))]
    return found


def some(draw, depth):
    kind = draw.choice(["anyOf", "anyOf", "oneOf", "allOf"])
    return {kind: [a_schema(draw, depth - 1) for _ in range(draw.randrange(1, 4))]}


def a_schema(draw, depth):
    leaves = [a_string, a_number, a_constant, lambda *_: {"type": draw.choice(["boolean", "null"])},
              lambda *_: {"type": ["string", "null"], "maxLength": 6}, lambda *_: {"$ref": "#/$defs/node"}]
    return draw.choice(leaves + [an_object, an_object, an_array, some] * (depth > 0))(draw, depth)


def schema_of(draw):
    """A tree of them, which may refer to a node that has itself as a child."""
    node = {"type": "object", "properties": {"value": a_number(draw, 0), "next": {
        "anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["value"], "additionalProperties": False}
    return {**draw.choice([an_object, an_array, some, an_object])(draw, 2), "$defs": {"node": node}}


def exact(text):
    """A number with all its digits; of an exponent beyond all bounds one that is as good."""
    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        return decimal.Decimal(re.sub(r"[eE]([+-]?)\d+", r"e\g<1>99999", text))


def try_schema(seed):
    """What became of the answer. Raises AssertionError."""
    draw = random.Random(seed)
    form = schema_of(draw)
    text = "".join(chr(draw.choice([draw.randrange(32, 127), draw.randrange(160, 5000)]))
                   for _ in range(draw.randrange(1, 40)))
    status, said = post("/chat/completions", {
        "messages": [{"role": "user", "content": text}], "temperature": draw.choice([0, 1]), "seed": seed,
        "max_tokens": draw.randrange(100, 400),
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": form}}})
    if status == 400 and "form cannot be used" in said["error"]["message"]:
        return "refused"
    assert status == 200, (seed, form, said)
    [choice] = said["choices"]
    if choice["finish_reason"] == "length":
        return "cut"
    try:
        jsonschema.Draft202012Validator(form, format_checker=CHECKER).validate(
            json.loads(choice["message"]["content"], parse_float=exact))
    except (ValueError, jsonschema.ValidationError) as error:
        raise AssertionError(f"seed {seed}: {json.dumps(form)}\n{choice['message']['content']!r}\n{error}")
    return "valid"


def try_pair(seed):
    """Tokens of the warm one that were cached. Raises AssertionError, also if a page of it is computed once more."""
    draw = random.Random(SEED * FAMILIES + seed % FAMILIES)
    family = [draw.randrange(256) for _ in range(300)]
    draw = random.Random(seed)
    prompt = family[:draw.randrange(300)] + [draw.randrange(256) for _ in range(draw.randrange(1, 40))]
    asked = {"prompt": prompt, "max_tokens": draw.randrange(1, 7), "logprobs": draw.randrange(6),
             "temperature": draw.choice([0, 1]), "seed": seed, "echo": draw.random() < 0.5, "ignore_eos": True,
             "n": draw.choice([1, 1, 1, 2])}
    kinds = [{"cache_salt": f"cold-{SEED}-{seed}"}, {}]
    draw.shuffle(kinds)  # either may be the first
    answers = {bool(kind): post("/completions", {**asked, **kind}) for kind in kinds}
    (cold, one), (warm, other) = answers[True], answers[False]
    assert cold == warm == 200, (seed, one, other)
    assert one["choices"] == other["choices"], f"seed {seed}: {asked}\n{one['choices']}\n{other['choices']}"
    again, third = post("/completions", asked)
    assert again == 200 and third["choices"] == one["choices"], (seed, one, third)
    full = (len(prompt) - 1) // PAGE * PAGE
    # Log probabilities of the token after a hit need the hit's last token.
    least = max(full - asked["echo"], 0)
    assert third["usage"]["prompt_tokens_details"]["cached_tokens"] == least, (seed, asked, third["usage"])
    return other["usage"]["prompt_tokens_details"]["cached_tokens"]


def tried(attempt, seeds):
    """(results, sentences of those that failed)"""
    results, failed = [], []
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for each in [pool.submit(attempt, seed) for seed in seeds]:
            try:
                results.append(each.result())
            except AssertionError as error:
                failed.append(str(error))
    return results, failed


def main():
    found, wrong = tried(try_schema, range(SEED, SEED + SCHEMAS))
    counts = collections.Counter(found)
    print(f"{SCHEMAS} schemas from seed {SEED}: {counts['valid']} answers valid, {counts['cut']} cut by max_tokens, "
          f"{counts['refused']} schemas refused, {len(wrong)} wrong")
    cached, differing = tried(try_pair, range(SEED, SEED + PAIRS))
    hits = sum(map(bool, cached))
    print(f"{PAIRS} pairs cold and warm from seed {SEED}: {hits} warm with {sum(cached)} cached tokens, "
          f"{len(differing)} with differing bits or a page computed once more")
    print(*[each[:2000] for each in (wrong + differing)[:5]], sep="\n")
    return bool(wrong or differing or counts["valid"] < 0.7 * SCHEMAS or hits < PAIRS / 3)


if __name__ == "__main__":
    sys.exit(main())
