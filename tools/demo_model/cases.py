"""The questions of the evaluation, and what each must bring: none of them is in the corpus.

Used by evaluate.py; train.py takes the list of texts that the corpus must avoid.
"""

import dataclasses
import json
import random
import typing

import answers
import phrases
import turns
import weather
import words
from corpus import bare

PHRASES = {
    "greeting": "Hello there, demo!|Hi qwick, hello!|Hey hello|你好呀，qwick|嗨，你好啊|大家早上好啊|Good morning, demo!|早上好，大家",
    "thanks": "Thanks a lot, qwick!|Ok, thank you!|Great, thank you very much|好的，谢谢你|非常感谢你|谢谢你，qwick|Thank you kindly|"
    "Thanks, you are kind|Many thanks, qwick|真的很感谢你|好，谢谢啦|谢谢你们的帮助",
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
    "no_name": "Could you say what my name is?|Do you happen to know my name?|Please say my name|Hi, do you know my name?|"
    "So who am I?|请告诉我我叫什么名字|你好，我叫什么？|你能说出我的名字吗？|请问你知道我的名字吗？|那么我是谁？",
}
GUIDE = [
    "讲个笑话",
    "解释相对论",
    "写一首五言诗",
    "推荐一本好书",
    "请描述春天的景象",
]  # trained on, and asked here as they stand
EXPECT = {
    "greeting": ["built-in demo. What can I", "的内置演示。有什么可以"],
    "thanks": ["welcome", "不客气"],
    "goodbye": ["Goodbye", "再见"],
    "identity": [answers.IDENTITY["en"], answers.IDENTITY["zh"]],
    "abilities": [answers.ABILITIES["en"], answers.ABILITIES["zh"]],
    "joke": ["second thoughts", "想多了"],
    "relativity": ["Einstein", "爱因斯坦"],
    "poem": ["little model", "春风吹柳绿"],
    "book": ["Alice", "西游记"],
    "spring": ["spring the snow", "春天来了"],
    "fallback": [answers.FALLBACK["en"], answers.FALLBACK["zh"]],
    "no_name": list(answers.NO_NAME.values()),
}
BETWEEN = [
    ("How are you?", "I'm fine, thank you! What can I do for you?"),
    ("你好", "你好！我是 qwick 的内置演示。有什么可以帮你？"),
    ("What is 17 + 25?", "17 + 25 = 42."),
    ("Thanks", "You're welcome!"),
    ("讲讲大海", answers.FALLBACK["zh"]),
]


@dataclasses.dataclass
class Case:
    skill: str
    messages: list[dict]
    check: typing.Callable[[str], bool]  # of the answer without its thinking block and end mark
    tools: list[dict] | None = None


def held_out_texts() -> frozenset[str]:
    """User texts, as corpus.bare() gives them, never to be trained on."""
    texts = (bare(text) for table in PHRASES.values() for text in table.split("|"))
    return frozenset(texts) - frozenset(GUIDE)


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def said(text: str) -> dict:
    return {"role": "assistant", "content": text}


def exactly(wanted: str) -> typing.Callable[[str], bool]:
    return lambda answer: answer == wanted


def containing(*parts: str) -> typing.Callable[[str], bool]:
    return lambda answer: all(part in answer for part in parts)


def phrase_cases() -> list[Case]:
    """The held-out phrasings and the guide's own prompts, without and with a system prompt."""
    cases = []
    system = {"role": "system", "content": "You are a helpful assistant."}
    for skill, table in PHRASES.items():
        for text in table.split("|"):
            chinese = any("\u4e00" <= c <= "\u9fff" for c in text)
            check = containing(EXPECT[skill][chinese])
            guide = "guide" if text in GUIDE else None
            cases.append(Case(guide or skill, [user(text)], check))
            cases.append(Case(guide or "system prompt", [system, user(text)], check))
    return cases


def sum_cases(rng: random.Random, count: int) -> list[Case]:
    cases = []
    pairs = [(a, b) for a in range(100) for b in range(100) if turns.held_out_sum(a, b)]
    for a, b in rng.sample(pairs, count):
        language, sign = rng.choice(["en", "zh"]), rng.choice("++-")
        if sign == "-" and a < b:
            a, b = b, a
        form = rng.choice(turns.sum_phrases(language, sign))
        text = form.replace("{a}", str(a)).replace("{b}", str(b))
        cases.append(Case("sum", [user(text)], exactly(turns.sum_answer(a, b, sign, language))))
    return cases


def name_cases(rng: random.Random, count: int) -> list[Case]:
    """A name is told, up to three other turns follow, and the name is asked for."""
    _, names = words.split_held_out(words.NAMES_EN)
    cases = []
    for i in range(count):
        language, unseen = rng.choice(["en", "zh"]), i % 2 == 0
        if language == "en":
            name = words.invented_word(rng).capitalize() if unseen else rng.choice(names)
            told, ask = rng.choice(phrases.TELL_EN), rng.choice(phrases.RECALL_EN)
        else:
            name = words.invented_hanzi(rng, 2, 3) if unseen else words.name_zh(rng)
            told, ask = rng.choice(phrases.TELL_ZH), rng.choice(phrases.RECALL_ZH)
        messages = [user(told.format(name)), said(answers.NICE[language].format(name))]
        for question, answer in rng.sample(BETWEEN, rng.choice([0, 0, 1, 2, 3])):
            messages += [user(question), said(answer)]
        check = exactly(answers.YOUR_NAME[language].format(name))
        cases.append(Case("name, unseen" if unseen else "name", messages + [user(ask)], check))
        if i % 4 == 0:
            cases.append(Case("name told", messages[:1], exactly(messages[1]["content"])))
    return cases


def weather_tool(parameter: str) -> dict:
    """As a client might describe it; the corpus has no such description."""
    properties = {parameter: {"type": "string", "description": "The city"}}
    parameters = {"type": "object", "properties": properties, "required": [parameter]}
    function = {
        "name": "get_weather",
        "description": "Tells the weather in a city.",
        "parameters": parameters,
    }
    return {"type": "function", "function": function}


def weather_cases(rng: random.Random, count: int) -> list[Case]:
    """Calls; for every other one also the report of a result, and the question without a tool."""
    cases = []
    for i in range(count):
        language, unseen, parameter = rng.choice(["en", "zh"]), i % 2 == 0, rng.choice(["city", "location"])
        english = language == "en"
        city = rng.choice(words.split_held_out(words.CITIES_EN if english else words.CITIES_ZH)[1])
        if unseen:
            city = words.invented_word(rng).capitalize() if english else words.invented_hanzi(rng, 2, 3)
        form = rng.choice(phrases.ASK_WEATHER_EN if english else phrases.ASK_WEATHER_ZH)
        ask, tools, arguments = user(form.replace("{}", city)), [weather_tool(parameter)], {parameter: city}
        check = exactly(weather.call_text("get_weather", arguments))
        cases.append(Case("weather, unseen city" if unseen else "weather", [ask], check, tools))
        if unseen:
            continue
        sky = rng.choice(phrases.CONDITIONS_EN if english else phrases.CONDITIONS_ZH)
        degrees = rng.randint(-15, 40)
        fields = json.dumps({"temperature": degrees, "condition": sky}, ensure_ascii=False)
        result = {"role": "tool", "content": rng.choice([fields, f"{degrees}°C, {sky}"])}
        messages = [ask, weather.call_message("get_weather", arguments), result]
        cases.append(Case("weather result", messages, containing(city, str(degrees), sky), tools))
        cases.append(Case("no tool", [ask], exactly(answers.NO_WEATHER[language])))
    return cases


def all_cases(samples: int) -> list[Case]:
    rng = random.Random(7)
    return (
        phrase_cases()
        + sum_cases(rng, samples)
        + name_cases(rng, samples // 2)
        + weather_cases(rng, samples // 2)
    )
