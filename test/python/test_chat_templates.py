"""Chat templates, and streams of what they make, as transformers has them: the texts here are those of its
apply_chat_template."""

import random
import types
from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models

from kv_generate.chat import ChatFormat, TooLong
from kv_generate.detokenize import Detokenizer
from kv_generate.errors import GenerateFailure

MESSAGES = [{"role": "user", "content": " hé <&> 'q' "}, {"role": "assistant", "content": "b\n"}]


def form(template):
    return ChatFormat(types.SimpleNamespace(template=template, folder=Path("folder"),
                                            special={"bos_token": "<s>", "eos_token": "</s>"}))


@pytest.mark.parametrize("template, text", (
    ("{% for m in messages %}{{ m.role }}: {% generation %}{{ m.content }}\n{% endgeneration %}{% endfor %}|",
     "user:  hé <&> 'q' \nassistant: b\n\n|"),
    ("{% for m in messages %}\n  {% generation %}\n    {{ m.content }}\n  {% endgeneration %}\n{% endfor %}\nend",
     "     hé <&> 'q' \n    b\n\nend"),
    ("{% set ns = namespace(a=1) %}{% for m in messages %}{% generation %}{% set ns.a = ns.a + 1 %}{{ ns.a }}"
     "{% endgeneration %}{% endfor %}{{ ns.a }}", "233"),
    ("{{ messages[0] | tojson }}", '{"role": "user", "content": " hé <&> \'q\' "}'),
    ("{{ messages[0] | tojson(ensure_ascii=True) }}", '{"role": "user", "content": " h\\u00e9 <&> \'q\' "}'),
    ("{{ messages[1] | tojson(ensure_ascii=False, separators=(',', ':'), sort_keys=True) }}",
     '{"content":"b\\n","role":"assistant"}'),
    ("{{ messages[1] | tojson(indent=1) }}", '{\n "role": "assistant",\n "content": "b\\n"\n}'),
    ("{{ tools is not none }} {{ documents is not none }} {{ tools is defined }}", "False False True"),
    ("{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m.role }}{% endfor %}", "user"),
    ("{{ strftime_now('%%') }}{{ bos_token }}{% if add_generation_prompt %}A{% endif %}", "%<s>A"),
    ("{%- for m in messages %}\n    {%- if m.role == 'user' %}\n{{ m.content }}\n    {%- endif %}\n{%- endfor %}\n.",
     " hé <&> 'q' .")))
def test_text(template, text):
    assert form(template).text(MESSAGES) == text


def test_a_text_that_is_too_long_is_not_made():
    endless = form("{% for i in range(99999) %}{% for j in range(99999) %}東{% endfor %}{% endfor %}")
    with pytest.raises(TooLong):
        endless.text(MESSAGES, most=1000)
    assert form("東" * 10).text(MESSAGES, most=30) == "東" * 10
    with pytest.raises(TooLong):
        form("東" * 10).text(MESSAGES, most=29)


def test_what_a_template_refuses():
    for template, sentence in (("{{ raise_exception('only one') }}", "refuses these messages: only one"),
                               ("{{ messages[0].x | tojson }}", "refuses these messages: Object of type Undefined"),
                               ("{% generation %}", "bad chat template: Unexpected end of template")):
        with pytest.raises(GenerateFailure, match=sentence):
            form(template).text(MESSAGES)


def test_streams_are_the_whole_text():
    """Of a tokenizer that takes the space from a text's beginning, with tokens that are skipped and some that are
    none."""
    tokenizer = Tokenizer(models.BPE(vocab={"<unk>": 0, "▁a": 1, "▁b": 2, "▁": 3, "c": 4}, merges=[],
                                     unk_token="<unk>"))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(),
                                           decoders.Strip(content=" ", left=1, right=0)])
    tokenizer.add_special_tokens([AddedToken("</s>", special=True, normalized=False), AddedToken("<x>", special=True)])
    draw = random.Random(5)
    for _ in range(2000):
        ids = draw.choices(range(8), k=draw.randrange(12))
        stream = Detokenizer(tokenizer)
        assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids), ids
