"""What a key means that config.json lacks: for every family with a class in transformers, each key of that class's
defaults is left out in turn, and what kv-import reads is compared with what it reads of transformers' value. A
refusal is no difference. Run by scripts/check-models.sh."""

import dataclasses
import json
import sys
from pathlib import Path

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/kv-import"))
from kv_import.model.errors import ImportFailure  # noqa: E402
from kv_import.model.families import FAMILIES  # noqa: E402
from kv_import.readers.hf_config import read_config  # noqa: E402

# Fields that another value would make disagree with the shapes or names of tensors.
SEEN = {"kv_heads", "head_dim", "heads", "intermediate", "latent"}
# Where null and a missing key are not the same in transformers: kv-import takes both for "none".
NULLS = {("mistral", "sliding_window"), ("ministral", "sliding_window"), ("gpt_oss", "rope_parameters")}
# What a class's defaults lack.
MORE = {"granitemoehybrid": {"layer_types": ["mamba"] * 31 + ["attention"]}, "bamba": {"attn_layer_indices": [3]},
        "deepseek_v2": {"num_experts_per_tok": 6, "topk_method": "greedy"}}


def numbers(raw):
    """What is read, without what tensors would contradict; None: refused."""
    try:
        config = dataclasses.asdict(read_config(Path("x"), raw))
    except ImportFailure:
        return None
    mixture = config.pop("mixture")
    out = {key: value for key, value in config.items() if key not in SEEN}
    return out | {"full_layers": list(out["full_layers"]), "scale": mixture and mixture["scale"],
                  "normalised": mixture and mixture["normalised"]}


def written(kind, settings):
    """config.json as transformers would write it."""
    raw = json.loads(json.dumps(kind(**settings).to_dict()))
    return {key: value for key, value in raw.items() if value is not None}


def differences(family):
    kind = CONFIG_MAPPING["deepseek_v3" if family == "kimi_k2" else family]
    whole = written(kind, MORE.get(family, {}))
    if numbers(whole | {"model_type": family}) is None and family != "ministral3":
        yield f"{family}: the defaults of {kind.__name__} are refused"
    for key in whole:
        if key == "model_type" or key in MORE.get(family, ()) or (family, key) in NULLS:
            continue
        less = {other: value for other, value in whole.items() if other != key}
        try:
            theirs = written(kind, {name: value for name, value in less.items() if name != "model_type"})
        except Exception:  # transformers itself wants the key
            continue
        found, expected = (numbers(each | {"model_type": family}) for each in (less, theirs))
        if found and expected:
            # A mixture that is not there is seen by the names of tensors.
            wrong = [name for name in found if found[name] != expected[name] and None not in (
                (found[name], expected[name]) if name in ("scale", "normalised") else ())]
            for name in wrong:
                yield f"{family} without {key}: {name} is {found[name]}, transformers has {expected[name]}"


def main():
    transformers.utils.logging.set_verbosity_error()
    families = [family for family in FAMILIES if family in CONFIG_MAPPING or family == "kimi_k2"]
    found = [line for family in families for line in differences(family)]
    print("\n".join(found), end="\n" if found else "")
    if found:
        sys.exit(f"check-missing: {len(found)} keys mean something else where they are missing")
    print(f"check-missing: missing keys of {len(families)} families mean what they mean in transformers")


if __name__ == "__main__":
    main()
