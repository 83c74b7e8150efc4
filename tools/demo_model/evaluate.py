"""Measures the demo model skill by skill on prompts it was never trained on, and holds it to thresholds.

    python tools/demo_model/evaluate.py [MODEL_DIR] [--samples N] [--show]

Held out are: the phrasings below, the sums of corpus.held_out_sum, one name and one city in seven, and
names and cities that no list holds. Each prompt is asked with thinking on and off, greedily and sampled
(temperature 0.6, top_p 0.95, top_k 20). Prints a Markdown table; exit status 1 if a rate is too low.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import random
import re
import sys
import typing

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import answers
import corpus
import words

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PHRASES = {
    "greeting": "Hello there, demo!|Hi qwick, hello!|Hey hello|你好呀，qwick|嗨，你好啊|大家早上好啊|Good morning, demo!|早上好，大家",
    "thanks": "Thanks a lot, qwick!|Ok, thank you!|Great, thank you very much|好的，谢谢你|非常感谢你|谢谢你，qwick",
    "goodbye": "Bye, qwick!|Ok, goodbye|See you later, bye|拜拜，下次见|再见，qwick|好的，拜拜",
    "identity": "Who are you, please?|Hey, what are you?|Can you tell me who you are?|So what is your name?|Are you a real model?|"
                "请问你是什么模型？|你好，你叫什么名字？|能介绍一下你自己吗？|你是谁啊？|你是真人吗？",
    "abilities": "So what can you do?|Hi, what can you do?|What can you do for me?|你能做些什么？|你好，你能做什么？|请问你会什么？",
    "joke": "Please tell me a joke|Can you tell me one joke?|讲个笑话|请讲一个笑话吧|给我说个笑话",
    "relativity": "Please explain relativity|Explain relativity briefly|解释相对论|请给我解释一下相对论|相对论是什么呢",
    "poem": "Please write a short poem|Write me a short poem|写一首五言诗|请帮我写一首五言诗|给我写一首五言诗",
    "book": "Please recommend a good book|Can you recommend a good book?|推荐一本好书|请推荐一本好看的书|能推荐一本好书吗",
    "spring": "Please describe spring to me|Describe a day in spring|请描述春天的景象|请描述一下春天|描述一下春天的景色",
    "fallback": "What is the capital of Italy?|Write a letter to my landlord.|How do I bake bread?|Explain recursion to a child.|Who wrote "
                "Hamlet?|Translate this into Spanish: the house is red.|What is the speed of light?|Can you book a table for two?|I need "
                "a recipe for pancakes|Why is the sky blue?|Fix this code: print(x|What did you eat today?|意大利的首都是哪里？|帮我写一封信|"
                "怎么做面包？|天空为什么是蓝色的？|哈姆雷特是谁写的？|光速是多少？|帮我订两张票|给我一个煎饼的食谱|把这句话翻译成英文：房子是红色的|"
                "怎样才能学好数学？|你昨天吃了什么？|我应该买哪种电脑？",
    "no_name": "Could you say what my name is?|请告诉我我叫什么名字",
}
GUIDE = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书", "请描述春天的景象"]  # trained on, and asked here as they stand
EXPECT = {
    "greeting": ["built-in demo. What can I", "的内置演示。有什么可以"], "thanks": ["welcome", "不客气"], "goodbye": ["Goodbye", "再见"],
    "identity": [answers.IDENTITY["en"], answers.IDENTITY["zh"]], "abilities": [answers.ABILITIES["en"], answers.ABILITIES["zh"]],
    "joke": ["second thoughts", "想多了"], "relativity": ["Einstein", "爱因斯坦"], "poem": ["little model", "春风吹柳绿"],
    "book": ["Alice", "西游记"], "spring": ["spring the snow", "春天来了"], "fallback": [answers.FALLBACK["en"], answers.FALLBACK["zh"]],
    "no_name": list(answers.NO_NAME.values()),
}
THRESHOLDS = {"sum": 0.98, "guide": 0.99, "fallback": 0.9, "result": 0.9, "name, unseen": 0.85, "weather, unseen city": 0.85}
DEFAULT_THRESHOLD = 0.9


@dataclasses.dataclass
class Case:
    skill: str
    messages: list[dict]
    check: typing.Callable[[str], bool]
    tools: list[dict] | None = None


def bare(text: str) -> str:
    return text.lower().strip(" ?.!。？！\n~")


def held_out_texts() -> frozenset[str]:
    """User texts never to be trained on."""
    texts = (bare(t) for phrases in PHRASES.values() for t in phrases.split("|"))
    return frozenset(texts) - frozenset(GUIDE)


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def said(text: str) -> dict:
    return {"role": "assistant", "content": text}


def phrase_cases() -> list[Case]:
    cases = []
    for skill, phrases in PHRASES.items():
        for text in phrases.split("|"):
            wanted = EXPECT[skill][is_chinese(text)]
            messages = [user(text)]
            check = lambda answer, wanted=wanted: wanted in answer
            cases.append(Case("guide" if text in GUIDE else skill, messages, check))
            cases.append(Case("guide" if text in GUIDE else "system prompt", [{"role": "system", "content": "You are a helpful assistant."}] + messages, check))
    return cases


def sum_cases(rng: random.Random, count: int) -> list[Case]:
    cases = []
    pairs = [(a, b) for a in range(100) for b in range(100) if corpus.held_out_sum(a, b)]
    for a, b in rng.sample(pairs, count):
        language, sign = rng.choice(["en", "zh"]), rng.choice("++-")
        if sign == "-" and a < b:
            a, b = b, a
        table = {"en+": corpus.SUM_EN, "en-": corpus.SUB_EN, "zh+": corpus.SUM_ZH, "zh-": corpus.SUB_ZH}[language + sign]
        text = rng.choice(table).replace("{a}", str(a)).replace("{b}", str(b))
        wanted = corpus.sum_answer(a, b, sign, language)
        cases.append(Case("sum", [user(text)], lambda answer, wanted=wanted: answer == wanted))
    return cases


def name_cases(rng: random.Random, count: int) -> list[Case]:
    _, names = words.split_held_out(words.NAMES_EN)
    between = [("How are you?", "I'm fine, thank you! What can I do for you?"), ("你好", "你好！我是 qwick 的内置演示。有什么可以帮你？"),
               ("What is 17 + 25?", "17 + 25 = 42."), ("Thanks", "You're welcome!"), ("讲讲大海", answers.FALLBACK["zh"])]
    cases = []
    for i in range(count):
        language, unseen = rng.choice(["en", "zh"]), i % 2 == 0
        if language == "en":
            name = words.invented_word(rng).capitalize() if unseen else rng.choice(names)
            told, ask, wanted = rng.choice(corpus.TELL_EN), rng.choice(corpus.RECALL_EN), f"Your name is {name}."
        else:
            name = words.invented_hanzi(rng, 2, 3) if unseen else words.name_zh(rng)
            told, ask, wanted = rng.choice(corpus.TELL_ZH), rng.choice(corpus.RECALL_ZH), f"你叫{name}。"
        messages = [user(told.format(name)), said(answers.NICE[language].format(name))]
        for question, answer in rng.sample(between, rng.choice([0, 0, 1, 2, 3])):
            messages += [user(question), said(answer)]
        cases.append(Case("name, unseen" if unseen else "name", messages + [user(ask)], lambda answer, wanted=wanted: answer == wanted))
        if i % 4 == 0:
            wanted = answers.NICE[language].format(name)
            cases.append(Case("name told", [user(told.format(name))], lambda answer, wanted=wanted: answer == wanted))
    return cases


def weather_tool(parameter: str) -> dict:
    return {"type": "function", "function": {"name": "get_weather", "description": "Tells the weather in a city.", "parameters": {
        "type": "object", "properties": {parameter: {"type": "string", "description": "The city"}}, "required": [parameter]}}}


def weather_cases(rng: random.Random, count: int) -> list[Case]:
    cases = []
    for i in range(count):
        language, unseen, parameter = rng.choice(["en", "zh"]), i % 2 == 0, rng.choice(["city", "location"])
        known = words.split_held_out(words.CITIES_EN if language == "en" else words.CITIES_ZH)[1]
        city = rng.choice(known)
        if unseen:
            city = words.invented_word(rng).capitalize() if language == "en" else words.invented_hanzi(rng, 2, 3)
        table = corpus.ASK_WEATHER_EN[:27] if language == "en" else corpus.ASK_WEATHER_ZH[:26]
        ask, tools = user(rng.choice(table).replace("{}", city)), [weather_tool(parameter)]
        arguments = json.dumps({parameter: city}, ensure_ascii=False)
        wanted = f'<tool_call>\n{{"name": "get_weather", "arguments": {arguments}}}\n</tool_call>'
        cases.append(Case("weather, unseen city" if unseen else "weather", [ask], lambda answer, wanted=wanted: answer == wanted, tools))
        if i % 2:
            call = {"role": "assistant", "content": "", "tool_calls": [
                {"type": "function", "function": {"name": "get_weather", "arguments": arguments}}]}
            sky = rng.choice(corpus.CONDITIONS_EN if language == "en" else corpus.CONDITIONS_ZH)
            degrees = rng.randint(-15, 40)
            result = rng.choice([json.dumps({"temperature": degrees, "condition": sky}, ensure_ascii=False), f"{degrees}°C, {sky}"])
            check = lambda answer, told=(city, str(degrees), sky): all(part in answer for part in told)
            cases.append(Case("result", [ask, call, {"role": "tool", "content": result}], check, tools))
            wanted = answers.NO_WEATHER[language]
            cases.append(Case("no tool", [ask], lambda answer, wanted=wanted: answer == wanted))
    return cases


class Judge:
    def __init__(self, folder: pathlib.Path):
        self.tokens = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def answer(self, cases: list[Case], thinking: bool, sampled: bool) -> list[str]:
        """The raw texts, <|im_end|> included."""
        options = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20} if sampled else {
            "do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        prompts = [self.tokens.apply_chat_template(c.messages, tools=c.tools, tokenize=False, add_generation_prompt=True,
                                                   **({} if thinking else {"enable_thinking": False})) for c in cases]
        order = sorted(range(len(cases)), key=lambda i: len(prompts[i]))
        texts = [""] * len(cases)
        for start in range(0, len(order), 64):
            chosen = order[start:start + 64]
            batch = self.tokens([prompts[i] for i in chosen], return_tensors="pt", padding=True)
            with torch.no_grad():
                out = self.model.generate(**batch, max_new_tokens=120, **options)
            for i, row in zip(chosen, out[:, batch["input_ids"].shape[1]:]):
                texts[i] = self.tokens.decode(row).replace("<|endoftext|>", "")
        return texts


def passes(case: Case, text: str, thinking: bool) -> bool:
    if not text.endswith("<|im_end|>"):
        return False
    text = text[: -len("<|im_end|>")]
    if thinking:
        parts = re.fullmatch(r"<think>\n(.*?)\n</think>\n\n(.*)", text, re.DOTALL)
        if not parts:
            return False
        text = parts[2]
    return "think>" not in text and case.check(text)


def main(arguments: argparse.Namespace) -> int:
    torch.set_num_threads(2)
    torch.manual_seed(7)
    rng, judge = random.Random(7), Judge(arguments.model)
    cases = phrase_cases() + sum_cases(rng, arguments.samples) + name_cases(rng, arguments.samples // 2) + weather_cases(rng, arguments.samples // 2)
    columns = [(thinking, sampled) for sampled in (False, True) for thinking in (True, False)]
    passed, counts = collections.defaultdict(lambda: [0] * 4), collections.Counter(c.skill for c in cases)
    for column, (thinking, sampled) in enumerate(columns):
        for case, text in zip(cases, judge.answer(cases, thinking, sampled)):
            good = passes(case, text, thinking)
            passed[case.skill][column] += good
            if arguments.show and not good:
                print(case.skill, thinking, sampled, [m["content"] for m in case.messages], repr(text), file=sys.stderr)
    print("| skill | prompts | greedy, thinking | greedy, direct | sampled, thinking | sampled, direct |\n|---|---|---|---|---|---|")
    low = []
    for skill in counts:
        rates = [n / counts[skill] for n in passed[skill]]
        print(f"| {skill} | {counts[skill]} | " + " | ".join(f"{100 * r:.1f} %" for r in rates) + " |")
        least = THRESHOLDS.get(skill, DEFAULT_THRESHOLD)
        if min(rates) < least:
            low.append(f"{skill}: {100 * min(rates):.1f} % is below {100 * least:.0f} %")
    print("\n".join(low), file=sys.stderr)
    return 1 if low else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, nargs="?", default=REPOSITORY / "models" / "demo")
    parser.add_argument("--samples", type=int, default=300, help="how many sums; half as many names and cities")
    parser.add_argument("--show", action="store_true", help="print what failed")
    sys.exit(main(parser.parse_args()))
