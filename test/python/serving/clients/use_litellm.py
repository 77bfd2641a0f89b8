"""use_litellm.py BASE_URL MODEL: chats, streams, tools, forms, completions and Responses by litellm."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it asks no other host
import litellm  # noqa: E402

BASE, MODEL = sys.argv[1:]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "The weather in a city", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
ASK = [{"role": "user", "content": "Weather in Paris?"}]
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"],
          "additionalProperties": False}


def main():
    litellm.suppress_debug_info = True
    for provider in ("openai", "hosted_vllm"):
        more = {"model": f"{provider}/{MODEL}", "api_base": BASE, "api_key": "none", "temperature": 0,
                "max_tokens": 60, "num_retries": 0}
        whole = litellm.completion(messages=ASK, **more)
        assert whole.choices[0].message.content and whole.usage.completion_tokens > 0
        pieces = list(litellm.completion(messages=ASK, stream=True, stream_options={"include_usage": True}, **more))
        text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
        assert text == whole.choices[0].message.content, (text, whole)
        for streams in (False, True):
            called = litellm.completion(messages=ASK, tools=TOOLS, tool_choice="required", stream=streams, **more)
            if streams:
                called = litellm.stream_chunk_builder(list(called))
            [call, *_] = called.choices[0].message.tool_calls
            assert call.function.name == "weather" and "city" in json.loads(call.function.arguments)
        history = [*ASK, {"role": "assistant", "content": None, "tool_calls": [call.model_dump()]},
                   {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
        assert litellm.completion(messages=history, tools=TOOLS, **more).choices[0].message
        formed = litellm.completion(messages=ASK, response_format={"type": "json_schema", "json_schema": {
            "name": "age", "schema": SCHEMA, "strict": True}}, **more)
        assert isinstance(json.loads(formed.choices[0].message.content)["age"], int)
    text = litellm.text_completion(model=f"text-completion-openai/{MODEL}", prompt="The sky is", api_base=BASE,
                                   api_key="none", max_tokens=8, temperature=0)
    assert text.choices[0].text
    answer = litellm.responses(model=f"openai/{MODEL}", input="hi", api_base=BASE, api_key="none",
                               max_output_tokens=16)
    assert answer.output[0].content[0].text
    print("litellm: chats, streams, tools, forms, a completion, a response")


if __name__ == "__main__":
    main()
