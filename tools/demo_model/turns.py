"""The single turns of the demo's corpus: a question of one skill, what is thought and what is answered.

Corpus (corpus.py) strings them into conversations; weather.py makes those around the tool. All is drawn
from one random generator, so a seed gives the corpus.
"""

import dataclasses
import json
import random

import answers
import phrases
import words

HELD_OUT_SUM = 17  # pairs with (7 a + b) % 17 == 0, either way round, are never trained on


@dataclasses.dataclass
class Turn:
    skill: str
    language: str  # "en" or "zh"
    user: str
    thought: str
    answer: str


def held_out_sum(a: int, b: int) -> bool:
    return (7 * a + b) % HELD_OUT_SUM == 0 or (7 * b + a) % HELD_OUT_SUM == 0


def working(a: int, b: int, sign: str) -> str:
    """The sum worked by columns, ones first: each step is then a fact about single digits."""
    if sign == "-" and a < b:
        return f"{a}-{b} = -({b}-{a})\n" + working(b, a, sign)
    ones, tens = (a % 10, b % 10), (a // 10, b // 10)
    if sign == "+":
        carry = sum(ones) // 10
        return f"{ones[0]}+{ones[1]}={sum(ones)}\n{tens[0]}+{tens[1]}+{carry}={sum(tens) + carry}"
    borrow = int(ones[0] < ones[1])
    top = ones[0] + 10 * borrow
    return f"{top}-{ones[1]}={top - ones[1]}\n{tens[0]}-{tens[1]}-{borrow}={tens[0] - tens[1] - borrow}"


def sum_answer(a: int, b: int, sign: str, language: str) -> str:
    return f"{a} {sign} {b} = {a + b if sign == '+' else a - b}" + ("。" if language == "zh" else ".")


def sum_phrases(language: str, sign: str) -> list[str]:
    return {
        ("en", "+"): phrases.SUM_EN,
        ("en", "-"): phrases.SUB_EN,
        ("zh", "+"): phrases.SUM_ZH,
        ("zh", "-"): phrases.SUB_ZH,
    }[language, sign]


class Turns:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.names, _ = words.split_held_out(words.NAMES_EN)
        self.cities_en, _ = words.split_held_out(words.CITIES_EN)
        self.cities_zh, _ = words.split_held_out(words.CITIES_ZH)
        self.phrasings = {
            language: [
                (skill, phrasing, thought, answer)
                for skill, phrasings, thought, answer in table
                for phrasing in phrasings.replace("\n", " " if language == "en" else "").split("|")
            ]
            for language, table in answers.FIXED.items()
        }

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def language(self) -> str:
        return self.rng.choice(["en", "zh"])

    def choose(self, language: str, en: list[str], zh: list[str]) -> str:
        return self.rng.choice(en if language == "en" else zh)

    def vary(self, text: str, language: str) -> str:
        """The same words as someone else would type them."""
        rng = self.rng
        if language == "zh":
            if self.chance(0.3):
                endings = ["", "", "？", "。", "！", "?", "!", ".", "~", "吧", "呢？", "\n"]
                text = text.rstrip("？。！") + rng.choice(endings)
            if self.chance(0.05):
                text = rng.choice(["请问", "你好，", "嗯，", "好的，", "那么，", "请"]) + text
            return text.replace("，", ",") if self.chance(0.1) else text
        if self.chance(0.2):
            text = text.lower()
        elif self.chance(0.75):
            text = text[:1].upper() + text[1:]
        ending = text[-1:] if text[-1:] in "?.!" else ""
        if self.chance(0.3):
            endings = ["", "", ".", "!", "?", "!!", "...", " ?", " :)", "\n"]
            text = text.rstrip("?.!") + rng.choice(endings)
        elif not ending and self.chance(0.3):
            text += rng.choice(["!", "."])
        if self.chance(0.04):
            text = rng.choice(["Hi! ", "Hello, ", "ok, ", "So, ", "Please: ", "Well, ", "Hey, "]) + text
        if self.chance(0.04):
            text = text.rstrip("?.!\n") + ", please" + ending
        return text

    def fixed(self) -> Turn:
        """One of those with an answer that never changes."""
        language = self.language()
        skill, phrasing, thought, answer = self.rng.choice(self.phrasings[language])
        return Turn(skill, language, self.vary(phrasing, language), thought, answer)

    def operands(self) -> tuple[int, int]:
        while True:
            a, b = (self.rng.randint(0, 20 if self.chance(0.15) else 99) for _ in range(2))
            if not held_out_sum(a, b):
                return a, b

    def sum(self) -> Turn:
        language, sign = self.language(), self.rng.choice("+-")
        a, b = self.operands()
        if sign == "-" and a < b and self.chance(0.8):
            a, b = b, a
        form = self.vary(self.rng.choice(sum_phrases(language, sign)), language)
        text = form.replace("{a}", str(a)).replace("{b}", str(b))
        return Turn("sum", language, text, working(a, b, sign), sum_answer(a, b, sign, language))

    def other_sum(self) -> Turn:
        """Arithmetic beyond the demo."""
        language = self.language()
        text = self.vary(self.choose(language, phrases.OTHER_SUM_EN, phrases.OTHER_SUM_ZH), language)
        for slot in "abc":
            text = text.replace("{" + slot + "}", str(self.rng.randint(0, 99)))
        for slot in "AB":
            text = text.replace("{" + slot + "}", str(self.rng.randint(100, 10 ** self.rng.randint(3, 6))))
        thought = {"en": "Beyond my sums.", "zh": "超出了我会的加减法。"}[language]
        return Turn("other_sum", language, text, thought, answers.BIG_SUM[language])

    def code(self) -> str:
        name, other = words.invented_word(self.rng), words.invented_word(self.rng)
        return self.rng.choice(
            [
                f"def {name}({other}):\n    return {other}",
                f"SELECT {name} FROM {other};",
                f"<{name}>{other}</{name}>",
                f"for (int i = 0; i < {name}; i++) {{ {other}(i); }}",
                json.dumps({name: other}),
                f"{name}@{other}.com",
                f"https://www.{name}.org/{other}",
            ]
        )

    def noise(self) -> tuple[str, str]:
        """Text that means nothing to the demo, and the language to answer it in."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            return " ".join(words.invented_word(rng) for _ in range(rng.randint(1, 6))), "en"
        if kind < 0.6:
            return words.invented_hanzi(rng, 2, 8), "zh"
        if kind < 0.7:
            letters = rng.choice(words.OTHER_SCRIPTS)
            return " ".join("".join(rng.choices(letters, k=rng.randint(2, 7))) for _ in range(3)), "en"
        if kind < 0.85:
            return self.code(), "en"
        return "?" + "".join(rng.choices("0123456789 .,:;!?#$%&()[]{}*/<>=_", k=rng.randint(1, 12))), "en"

    def topic(self, language: str) -> str:
        if self.chance(0.6):
            return self.choose(language, words.TOPICS_EN, words.TOPICS_ZH)
        if language == "zh":
            return words.invented_hanzi(self.rng, 1, 6)
        nouns = " ".join(words.invented_word(self.rng) for _ in range(self.rng.randint(1, 3)))
        return self.rng.choice(["", "the ", "a ", "my "]) + nouns

    def request(self, language: str) -> str:
        text = self.vary(self.choose(language, words.ASKS_EN, words.ASKS_ZH), language)
        while "{}" in text:
            text = text.replace("{}", self.topic(language), 1)
        return text

    def fallback(self) -> Turn:
        """A request that the demo declines."""
        language, kind = self.language(), self.rng.random()
        if kind < 0.68:
            text = self.request(language)
            if self.chance(0.15):
                text += (" " if language == "en" else "") + self.request(language)
        elif kind < 0.82:
            text = self.vary(self.choose(language, words.STATEMENTS_EN, words.STATEMENTS_ZH), language)
        else:
            text, language = self.noise()
        thought = {"en": "Not something I can do.", "zh": "这个我不会。"}[language]
        return Turn("fallback", language, text, thought, answers.FALLBACK[language])

    def repeat(self) -> Turn:
        """Something to say again: what teaches copying."""
        rng, language = self.rng, self.language()
        if language == "en":
            known = self.topic("en").split()
            said = [
                words.invented_word(rng) if self.chance(0.7) else rng.choice(known)
                for _ in range(rng.randint(1, 5))
            ]
            text = " ".join(said)
            text = text.capitalize() if self.chance(0.4) else text
        else:
            text = words.invented_hanzi(rng, 2, 6) if self.chance(0.6) else self.topic("zh")
        form = self.choose(language, phrases.REPEAT_EN, phrases.REPEAT_ZH)
        form = form.lower() if self.chance(0.2) else form
        thought = {"en": "I repeat it.", "zh": "重复一遍。"}[language]
        return Turn("repeat", language, form.format(text), thought, text)

    def name(self, language: str) -> str:
        if language == "zh" and not self.chance(0.12):
            return words.name_zh(self.rng)
        name = words.name_en(self.rng, self.names)
        return name.lower() if self.chance(0.06) else name

    def tell_name(self) -> tuple[Turn, str]:
        language = self.language()
        name = self.name(language)
        form = self.choose(language, phrases.TELL_EN, phrases.TELL_ZH)
        if self.chance(0.2):
            form = form.rstrip(".。") + self.rng.choice(["", "!", " "])
        if self.chance(0.15):
            form = form[0].lower() + form[1:]
        thought = {"en": "A name to remember.", "zh": "记住名字。"}[language]
        answer = answers.NICE[language].format(name)
        return Turn("tell_name", language, form.format(name), thought, answer), name

    def recall_name(self, name: str | None) -> Turn:
        language = self.language()
        text = self.vary(self.choose(language, phrases.RECALL_EN, phrases.RECALL_ZH), language)
        thought = {"en": "The user's name.", "zh": "用户的名字。"}[language]
        answer = answers.YOUR_NAME[language].format(name) if name else answers.NO_NAME[language]
        return Turn("recall_name" if name else "no_name", language, text, thought, answer)

    def single(self) -> Turn:
        """Any turn that stands alone."""
        makers = [self.fixed, self.sum, self.other_sum, self.fallback, self.repeat]
        return self.rng.choices(makers, [22, 64, 3, 24, 7])[0]()
