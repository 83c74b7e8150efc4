"""Golden for the sampler: which ids survive, and with which probability, by transformers' own processors.

    python tools/goldens/make_sampling.py        # writes tests/golden/sampling.json
"""
import json
import pathlib
import random

import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/sampling.json"


def case(rng: random.Random) -> dict:
    vocab = rng.choice([3, 17, 64])
    logits = [round(rng.gauss(0, rng.choice([0.5, 2, 6])), 3) for _ in range(vocab)]
    if rng.random() < 0.2:
        logits = [float(round(x)) for x in logits]  # ties
    seen = [rng.randrange(vocab) for _ in range(rng.randrange(1, 10))]
    params = {
        "temperature": rng.choice([1.0, 0.6, 0.05, 1.9]),
        "top_k": rng.choice([0, 1, 5, 20, 1000]),
        "top_p": rng.choice([1.0, 0.95, 0.5, 0.01]),
        "min_p": rng.choice([0.0, 0.05, 0.5]),
        "repetition_penalty": rng.choice([1.0, 1.1, 0.8, 2.0]),
    }
    processors = LogitsProcessorList()  # in the order of GenerationMixin._get_logits_processor
    if params["repetition_penalty"] != 1:
        processors.append(RepetitionPenaltyLogitsProcessor(params["repetition_penalty"]))
    if params["temperature"] != 1:
        processors.append(TemperatureLogitsWarper(params["temperature"]))
    if params["top_k"] > 0:
        processors.append(TopKLogitsWarper(params["top_k"]))
    if params["top_p"] < 1:
        processors.append(TopPLogitsWarper(params["top_p"]))
    if params["min_p"] > 0:
        processors.append(MinPLogitsWarper(params["min_p"]))
    scores = processors(torch.tensor([seen]), torch.tensor([logits]))
    probabilities = torch.softmax(scores[0].double(), -1).tolist()
    kept = {str(i): float(f"{p:.7g}") for i, p in enumerate(probabilities) if p > 0}
    return {"logits": logits, "seen": seen, **params, "kept": kept}


def main() -> None:
    rng = random.Random(20260101)
    OUT.write_text(json.dumps([case(rng) for _ in range(150)], separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
