"""How text is cut before merging, by the names of tokenizer.ggml.pre: the expressions of the models' own
tokenizer.json, one after the other, each on what the ones before it have left in one piece."""

from tokenizers import Regex, normalizers, pre_tokenizers

_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
# GPT-2's, which the package has as a switch of ByteLevel.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def _words(numbers, letters=r"\p{L}", endings=rf"{_ENDINGS}|", spaces=_SPACES, signs=r"[\r\n]*"):
    """Words with what stands before them, numbers in pieces, signs with the ends of lines."""
    marks = letters.removeprefix("[").removesuffix("]")
    return (rf"{endings}[^\r\n\p{{L}}\p{{N}}]?{letters}+|{numbers}| ?[^\s{marks}\p{{N}}]+{signs}|{spaces}")


def _cased(numbers, ending="", signs=r"[\r\n/]*", mark=""):
    """Words whose capitals come first. `mark`: what is excluded of letters."""
    upper, lower = rf"[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}{mark}]", rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}{mark}]"
    before = r"[^\r\n\p{L}\p{N}]?"
    return (rf"{before}{upper}*{lower}+{ending}|{before}{upper}+{lower}*{ending}|{numbers}"
            rf"| ?[^\s\p{{L}}\p{{N}}]+{signs}|{_SPACES}")


_PUNCTUATED = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
               rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}")
_HAN = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_WIDE = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_NO_STOPS = r" ?[^(\s|.,!?…。，、।۔،)]+"
# Cased letters of all scripts that have them: ranges of code points.
_CASED = r"\s?[A-Za-z" + "".join(f"{chr(first)}-{chr(last)}" for first, last in (
    (0xb5, 0xb5), (0xc0, 0xd6), (0xd8, 0xf6), (0xf8, 0x1ba), (0x1bc, 0x1bf), (0x1c4, 0x293), (0x295, 0x2af),
    (0x370, 0x373), (0x376, 0x377), (0x37b, 0x37d), (0x37f, 0x37f), (0x386, 0x386), (0x388, 0x38a),
    (0x38c, 0x38c), (0x38e, 0x3a1), (0x3a3, 0x3f5), (0x3f7, 0x481), (0x48a, 0x52f), (0x531, 0x556),
    (0x10a0, 0x10c5), (0x13a0, 0x13f5), (0x13f8, 0x13fd), (0x1c90, 0x1cba), (0x1cbd, 0x1cbf), (0x1d00, 0x1d2b),
    (0x1d6b, 0x1d77), (0x1d79, 0x1d9a), (0x1e00, 0x1f15), (0x1f18, 0x1f1d), (0x1f20, 0x1f45), (0x1f48, 0x1f4d),
    (0x1f50, 0x1f57), (0x1f59, 0x1f59), (0x1f5b, 0x1f5b), (0x1f5d, 0x1f5d), (0x1f5f, 0x1f7d), (0x1f80, 0x1fb4),
    (0x1fb6, 0x1fbc), (0x1fbe, 0x1fbe), (0x1fc2, 0x1fc4), (0x1fc6, 0x1fcc), (0x1fd0, 0x1fd3), (0x1fd6, 0x1fdb),
    (0x1fe0, 0x1fec), (0x1ff2, 0x1ff4), (0x1ff6, 0x1ffc), (0x2102, 0x2102), (0x2107, 0x2107), (0x210a, 0x2113),
    (0x2115, 0x2115), (0x2119, 0x211d), (0x2124, 0x2124), (0x2126, 0x2126), (0x2128, 0x2128), (0x212a, 0x212d),
    (0x212f, 0x2134), (0x2139, 0x2139), (0x213c, 0x213f), (0x2145, 0x2149), (0x214e, 0x214e), (0x2183, 0x2184),
    (0x2c00, 0x2c7b), (0x2c7e, 0x2ce4), (0x2ceb, 0x2cee), (0x2cf2, 0x2cf3), (0xa640, 0xa66d), (0xa680, 0xa69b),
    (0xa722, 0xa76f), (0xa771, 0xa787), (0xa78b, 0xa78e), (0xab70, 0xabbf), (0xfb00, 0xfb06), (0xfb13, 0xfb17),
    (0xff21, 0xff3a), (0xff41, 0xff5a), (0x10400, 0x1044f), (0x104b0, 0x104d3), (0x104d8, 0x104fb),
    (0x10c80, 0x10cb2), (0x10cc0, 0x10cf2), (0x118a0, 0x118df), (0x1e900, 0x1e943))) + "]+"
_STEPS = "|".join(rf"\s{{{2 ** n}}}(?!\S)" for n in range(9, 1, -1)) + r"|\s{1,2}(?!\S)|\s{1}"

# (Names, expressions). A kind that merges nothing where a whole piece is a token is in WHOLE.
KINDS = (
    ("gpt-2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code gigachat a.x-4.0 mellum "
     "modern-bert roberta-bpe exaone4 mpt olmo jais trillion granite-docling", (_GPT2,)),
    ("smollm starcoder refact command-r codeshell exaone minerva-7b mellum2", (r"\p{N}", _GPT2)),
    ("llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano dbrx smaug-bpe glm4 "
     "chatglm-bpe", (_words(r"\p{N}{1,3}"),)),
    ("qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", (_words(r"\p{N}"),)),
    ("qwen35", (_words(r"\p{N}", letters=r"[\p{L}\p{M}]"),)),
    ("ufakzeka", (_words(r"\p{N}", endings=""),)),
    ("laguna", (r"[^\n]+|\n+", _words(r"\p{N}"))),
    ("jais-2", (_words(r"\p{N}{1,3}", spaces=rf"\s*[\r\n]+|{_STEPS}"),)),
    ("bailingmoe bailingmoe2 llada-moe",
     (_words(r"\p{N}", endings="'(?i:[sdmt]|ll|ve|re)|", spaces=r"\s*[\r\n]|\s+(?!\S)|\s+"),)),
    ("seed-coder", (rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+|{_SPACES}",)),
    ("tekken", (_cased(r"\p{N}"),)),
    ("gpt-4o llama4 kanana2 talkie minimax-m2", (_cased(r"\p{N}{1,3}", f"{_ENDINGS}?"),)),
    ("tiny_aya cohere2moe", (r"\d{1,3}(?=(?:\d{3})*\b)", _cased(r"\p{N}{1,3}", f"{_ENDINGS}?"))),
    ("kimi-k2", (r"\p{Han}+", _cased(r"\p{N}{1,3}", f"{_ENDINGS}?", signs=r"[\r\n]*", mark=r"&&[^\p{Han}]"))),
    ("youtu", ("[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+", _cased(r"\p{N}", f"{_ENDINGS}?"))),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4", (r"\p{N}{1,3}", _HAN, _PUNCTUATED)),
    ("deepseek-llm", (r"[\r\n]", _CASED, r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", _WIDE, r"\p{N}+")),
    ("deepseek-coder", (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _WIDE, r"\p{N}")),
    ("falcon", (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]")),
    ("poro-chat bloom gpt3-finnish", (_NO_STOPS,)),
    ("viking", (_NO_STOPS, r"\p{N}")),
    ("superbpe", (r"\p{N}+", r"(?=(\d{3})+(?!\d))")),
    ("exaone-moe", (rf"{_ENDINGS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
                    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",)),
    ("chameleon", ("<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}",
                   r"[\p{P}!-/:-@\[-`{-~]", _GPT2)),
)
EXPRESSIONS = {name: expressions for names, expressions in KINDS for name in names.split()}
WHOLE = frozenset("llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano tekken youtu"
                  .split())
NORMALISED = frozenset("qwen2 deepseek-r1-qwen kormo f2llmv2 megrez qwen35".split())


def pre_tokenizer(name):
    return pre_tokenizers.Sequence(
        [*(pre_tokenizers.Split(Regex(each), behavior="isolated") for each in EXPRESSIONS[name]),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def normalizer(name):
    return normalizers.NFC() if name in NORMALISED else None
