"""Folders that ask for more than a machine has, or end a package that reads them: one clear sentence."""

import json
import os
from unittest import mock

import pytest

from kv_import import synthetic
from kv_import.model.errors import ImportFailure
from kv_import.readers.gguf_tokenizer import made_of_file
from test_bad_input import config, folder_with, refused, weights  # noqa: F401  two are fixtures


@pytest.mark.parametrize("kind, key", (("qwen3_next", "linear_value_head_dim"), ("qwen3_next", "linear_num_key_heads"),
                                       ("granite_hybrid", "mamba_d_state"), ("llama", "head_dim"),
                                       ("gpt_oss", "num_local_experts"), ("phi3", "intermediate_size")))
def test_numbers_of_no_model(tmp_path, kind, key):
    """No list of so many rows is made."""
    config = synthetic.make_config(kind)
    folder = folder_with(tmp_path, config, synthetic.make_weights(config), **{
        key: 2**30, **({"linear_num_value_heads": 2**30} if "key_heads" in key else {})})
    refused(folder, tmp_path, "config.json", "its numbers call for", "at most 16777216 rows and columns are supported")


def test_too_little_memory(tmp_path):
    with mock.patch("kv_import.cli.import_model", side_effect=MemoryError("Unable to allocate 9 GiB")):
        refused(tmp_path, tmp_path, "this machine has too little memory: Unable to allocate 9 GiB")


@pytest.mark.parametrize("prefix", ("x", "aaaa"))
def test_a_tokenizer_that_ends_its_package(tmp_path, config, weights, prefix):
    """Merges without the prefix: tokenizers 0.23 cuts a letter in two, or panics."""
    path = folder_with(tmp_path, config, weights) / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer["model"]["continuing_subword_prefix"] = prefix
    path.write_text(json.dumps(tokenizer))
    refused(path.parent, tmp_path, f"{path}: not a tokenizer of the tokenizers package: ")
    with pytest.raises(ImportFailure, match="x: the package ends with SIGABRT"):
        made_of_file(os.abort, "x")
