"""client.py URL: one client of kv-serve: a streamed answer, a conversation that finds itself in the cache, and a form."""

import json
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=8)
[model] = [model.id for model in client.models.list()]
messages = [{"role": "system", "content": "You are a helpful guide in a museum. Answer in one short sentence."},
            {"role": "user", "content": "What is a fossil?"}]

# A stream: each piece comes as soon as it is certain.
text = ""
for chunk in client.chat.completions.create(model=model, messages=messages, stream=True, temperature=0, max_tokens=60):
    piece = chunk.choices[0].delta.content or "" if chunk.choices else ""
    print(piece, end="", flush=True)
    text += piece
print()

# The next turn repeats the conversation; the server computes only what is new.
messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "Where do people find them?"}]
answer = client.chat.completions.create(model=model, messages=messages, temperature=0, max_tokens=60)
usage = answer.usage
print(answer.choices[0].message.content)
print(f"{usage.prompt_tokens_details.cached_tokens} of {usage.prompt_tokens} prompt tokens came from the cache")

# A form: the answer is JSON of this schema, whatever the model would like to say.
schema = {"type": "object", "additionalProperties": False, "required": ["animal", "legs"],
          "properties": {"animal": {"enum": ["dog", "spider", "bird"]}, "legs": {"enum": [2, 4, 8]}}}
answer = client.chat.completions.create(
    model=model, messages=[{"role": "user", "content": "Name an animal and the number of its legs."}], max_tokens=40,
    temperature=0, response_format={"type": "json_schema", "json_schema": {"name": "animal", "schema": schema}})
print(json.loads(answer.choices[0].message.content))
