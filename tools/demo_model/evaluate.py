"""Measures the demo model skill by skill on prompts it was never trained on, and holds it to thresholds.

    python tools/demo_model/evaluate.py [MODEL_DIR] [--samples N] [--show]

Held out are: the phrasings of cases.py, the sums of turns.held_out_sum, one name and one city in seven,
and names and cities that no list holds. Each prompt is asked with thinking on and off, greedily and
sampled (temperature 0.6, top_p 0.95, top_k 20), through transformers' AutoModelForCausalLM. An answer
must end its turn and hold a thinking block exactly where one is due. Prints a Markdown table; exit
status 1 if a rate is too low.
"""

import argparse
import collections
import pathlib
import re
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import cases

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
END = "<|im_end|>"
BATCH, LONGEST_ANSWER = 64, 90
THRESHOLDS = {"sum": 0.98, "guide": 1.0}
DEFAULT_THRESHOLD = 0.9
SAMPLING = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20}
GREEDY = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
COLUMNS = {
    "greedy, thinking": (True, GREEDY),
    "greedy, direct": (False, GREEDY),
    "sampled, thinking": (True, SAMPLING),
    "sampled, direct": (False, SAMPLING),
}


class Judge:
    def __init__(self, folder: pathlib.Path):
        self.tokens = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def prompt(self, case: cases.Case, thinking: bool) -> str:
        switch = {} if thinking else {"enable_thinking": False}
        return self.tokens.apply_chat_template(
            case.messages, tools=case.tools, tokenize=False, add_generation_prompt=True, **switch
        )

    def answers(self, questions: list[cases.Case], thinking: bool, options: dict) -> list[str]:
        """The raw texts, the end mark included."""
        prompts = [self.prompt(case, thinking) for case in questions]
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        texts = [""] * len(prompts)
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            batch = self.tokens([prompts[i] for i in chosen], return_tensors="pt", padding=True)
            with torch.no_grad():
                rows = self.model.generate(**batch, max_new_tokens=LONGEST_ANSWER, **options)
            for i, row in zip(chosen, rows[:, batch["input_ids"].shape[1] :]):
                texts[i] = self.tokens.decode(row).replace(self.tokens.pad_token, "")
        return texts


def passes(case: cases.Case, text: str, thinking: bool) -> bool:
    if not text.endswith(END):
        return False
    text = text.removesuffix(END)
    if thinking:
        parts = re.fullmatch(r"<think>\n(.*?)\n</think>\n\n(.*)", text, re.DOTALL)
        if not parts:
            return False
        text = parts[2]
    return "think>" not in text and case.check(text)


def evaluate(folder: pathlib.Path, samples: int, show: bool) -> int:
    judge, questions = Judge(folder), cases.all_cases(samples)
    counts = collections.Counter(case.skill for case in questions)
    passed = {column: collections.Counter() for column in COLUMNS}
    for column, (thinking, options) in COLUMNS.items():
        for case, text in zip(questions, judge.answers(questions, thinking, options)):
            good = passes(case, text, thinking)
            passed[column][case.skill] += good
            if show and not good:
                asked = [message["content"] for message in case.messages]
                print(f"{case.skill} | {column} | {asked} | {text!r}", file=sys.stderr, flush=True)
    print("| skill | prompts | " + " | ".join(COLUMNS) + " |\n" + "|---" * (2 + len(COLUMNS)) + "|")
    failed = False
    for skill, count in counts.items():
        rates = [passed[column][skill] / count for column in COLUMNS]
        print(f"| {skill} | {count} | " + " | ".join(f"{100 * rate:.1f} %" for rate in rates) + " |")
        least = THRESHOLDS.get(skill, DEFAULT_THRESHOLD)
        if min(rates) < least:
            failed = True
            print(f"{skill}: {100 * min(rates):.1f} % is below {100 * least:.0f} %", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=pathlib.Path, nargs="?", default=REPOSITORY / "models" / "demo")
    parser.add_argument("--samples", type=int, default=300, help="sums; half as many names and cities")
    parser.add_argument("--show", action="store_true", help="print what failed")
    arguments = parser.parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(7)
    sys.exit(evaluate(arguments.model, arguments.samples, arguments.show))
