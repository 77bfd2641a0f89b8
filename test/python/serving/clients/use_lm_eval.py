"""use_lm_eval.py BASE_URL MODEL FOLDER: a task in hellaswag's form by lm-eval, with the tokenizer of a model folder.
Leaves FOLDER/lm_eval.json: of each context and ending the sum of log probabilities that lm-eval has read."""

import json
import os
import sys
from pathlib import Path

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")  # it asks no other host
import lm_eval  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

BASE, MODEL, FOLDER = sys.argv[1:]
ROWS = [("A man sits on a roof. He", ["starts pulling up roofing.", "eats the sea slowly.", "is a kind of number."], 0),
        ("The cat jumped onto the table and", ["sang the law.", "knocked over the glass.", "seven of the blue."], 1),
        ("She opened the book and began to", ["purple.", "boil the moon.", "read."], 2),
        ("Water boils when it is", ["hot enough.", "Tuesday.", "very loud in Spain."], 0),
        # What the model ends with at once.
        ("Bye.<|im_end|>\n<|im_start|>assistant\nGoodbye", ["!", "! See you.", " and thanks, thanks."], 0)]


def main():
    folder = Path(FOLDER)
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"ctx": context, "endings": endings, "label": label}) + "\n"
                            for context, endings, label in ROWS))
    task = {"task": "endings", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(rows)}},
            "test_split": "test", "output_type": "multiple_choice", "doc_to_text": "{{ctx}}",
            "doc_to_choice": "{{endings}}", "doc_to_target": "{{label}}",
            "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]}
    (folder / "endings.yaml").write_text(json.dumps(task))  # which is YAML
    found = lm_eval.simple_evaluate(
        model="local-completions", tasks=["endings"], log_samples=True, bootstrap_iters=0,
        task_manager=TaskManager(include_path=FOLDER, include_defaults=False),
        model_args={"model": MODEL, "base_url": f"{BASE}/completions", "tokenizer": FOLDER, "num_concurrent": 4,
                    "tokenizer_backend": "huggingface", "max_retries": 1})
    samples = found["samples"]["endings"]
    sums = [[*each["arguments"][i], each["resps"][i][0]] if isinstance(each["arguments"], list) else
            [*each["arguments"][f"gen_args_{i}"].values(), each["resps"][i][0]]
            for each in samples for i in range(3)]
    (folder / "lm_eval.json").write_text(json.dumps(sums))
    print(f"lm-eval: {len(sums)} endings, accuracy {found['results']['endings']['acc,none']:.2f}")


if __name__ == "__main__":
    main()
