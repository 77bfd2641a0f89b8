"""use_langchain.py BASE_URL MODEL: an agent with two tools, structured output, streams and batches by LangChain."""

import sys

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI
from pydantic import BaseModel

BASE, MODEL = sys.argv[1:]
calls = []


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    calls.append(("weather", city))
    return f"18 degrees in {city}"


@tool
def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    calls.append(("add", a, b))
    return a + b


class Person(BaseModel):
    name: str
    age: int


@wrap_model_call
def choose(request, handler):
    """A small model calls no tool by itself, so the first two turns force one each."""
    names = ("weather", "add")
    return handler(request.override(tool_choice=names[len(calls)] if len(calls) < 2 else "none"))


def main():
    given = {"model": MODEL, "base_url": BASE, "api_key": "none", "temperature": 0, "max_tokens": 120, "max_retries": 0}
    model = ChatOpenAI(**given)
    agent = create_agent(ChatOpenAI(**given, extra_body={"min_tokens": 4}), [weather, add], middleware=[choose])
    found = agent.invoke({"messages": [("user", "What is the weather in Paris, and what is 2 + 3?")]})["messages"]
    assert [call[0] for call in calls] == ["weather", "add"], calls
    kinds = [message.type for message in found]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai"] and found[-1].content, kinds
    assert found[2].content == f"18 degrees in {calls[0][1]}"
    assert found[-1].usage_metadata["input_tokens"] > 0

    for method in ("json_schema", "function_calling"):
        person = model.with_structured_output(Person, method=method).invoke("Ann is 31 years old.")
        assert isinstance(person, Person), (method, person)
    called = model.bind_tools([weather, add], tool_choice="any").invoke("Weather in Rome?")
    assert called.tool_calls and called.tool_calls[0]["name"] in ("weather", "add")
    assert model.bind_tools([weather]).invoke("Hello").content is not None

    pieces = list(model.stream("Name a colour.", stream_usage=True))
    whole = model.invoke("Name a colour.")
    assert "".join(piece.content for piece in pieces) == whole.content and len(pieces) > 2
    assert len(model.batch(["a", "b", "c"])) == 3
    known = model.bind(logprobs=True, top_logprobs=2).invoke("hi").response_metadata["logprobs"]["content"]
    assert len(known[0]["top_logprobs"]) == 2
    text = OpenAI(**{**given, "max_tokens": 8}).invoke("The sky is")
    assert text
    print("langchain: an agent with two tools, 2 forms, a stream, a batch, log probabilities, a completion")


if __name__ == "__main__":
    main()
