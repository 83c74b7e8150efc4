"""The demo's corpus: conversations made by grammars, without end, from a seed.

train.py draws from Corpus.example(). An Example is a prompt in chat form (messages, tools, thinking
on or off) and the raw text that the model is to write after it, up to and without <|im_end|>.
"""

import dataclasses
import json
import random

import answers
import words

HELD_OUT_SUM = 17  # sums with (7 a + b) % 17 == 0 are never trained on, in either direction

SUM_EN = """What is {a} + {b}?|What's {a} + {b}?|what is {a}+{b}|{a} + {b}|{a}+{b}|{a} + {b} = ?|{a}+{b}=?|{a}+{b}=|{a} + {b} =|What
is {a} plus {b}?|What's {a} plus {b}?|{a} plus {b}|How much is {a} plus {b}?|How much is {a} + {b}?|Calculate {a} + {b}.|Compute
{a}+{b}|Add {a} and {b}.|Please add {a} and {b}.|What is the sum of {a} and {b}?|Sum {a} and {b}|Can you add {a} and {b}?|Hello,
what is {a} + {b}?|Tell me {a} + {b}.|Solve {a} + {b}|What do you get if you add {a} and {b}?|Can you tell me what {a} + {b}
is?|And {a} + {b}?|Now {a} plus {b}.|what does {a} + {b} equal?|{a} and {b} makes?|I need {a} + {b}""".replace("\n", " ").split("|")
SUB_EN = """What is {a} - {b}?|What's {a} - {b}?|what is {a}-{b}|{a} - {b}|{a}-{b}|{a} - {b} = ?|{a}-{b}=?|{a}-{b}=|{a} - {b} =|What
is {a} minus {b}?|What's {a} minus {b}?|{a} minus {b}|How much is {a} minus {b}?|How much is {a} - {b}?|Calculate {a} - {b}.|Compute
{a}-{b}|Subtract {b} from {a}.|What is {a} take away {b}?|Hello, what is {a} - {b}?|Tell me {a} - {b}.|Solve {a} - {b}|Can you tell
me what {a} - {b} is?|And {a} - {b}?|Now {a} minus {b}.|what does {a} - {b} equal?|I need {a} - {b}""".replace("\n", " ").split("|")
SUM_ZH = """{a}加{b}等于多少？|{a}加{b}等于几？|{a}+{b}等于多少？|{a}+{b}等于几？|{a} + {b} 等于多少|{a}加{b}是多少？|{a}加上{b}等于多少？|{a}+{b}是多少？|算一下{a}+{b}|
请计算{a}+{b}|计算{a}加{b}|{a}和{b}的和是多少？|{a}加{b}|请问{a}加{b}等于多少？|请算{a}+{b}=？|{a}加{b}得多少？|你好，{a}+{b}等于多少？|那{a}+{b}呢？|
帮我算{a}+{b}|把{a}和{b}加起来|{a}与{b}之和|{a} 加 {b} 等于多少？|告诉我{a}+{b}|{a}＋{b}＝？""".replace("\n", "").split("|")
SUB_ZH = """{a}减{b}等于多少？|{a}减{b}等于几？|{a}-{b}等于多少？|{a}-{b}等于几？|{a} - {b} 等于多少|{a}减{b}是多少？|{a}减去{b}等于多少？|{a}-{b}是多少？|算一下{a}-{b}|
请计算{a}-{b}|计算{a}减{b}|{a}减{b}|请问{a}减{b}等于多少？|请算{a}-{b}=？|{a}减{b}得多少？|你好，{a}-{b}等于多少？|那{a}-{b}呢？|帮我算{a}-{b}|
从{a}里减去{b}|{a} 减 {b} 等于多少？|告诉我{a}-{b}""".replace("\n", "").split("|")
OTHER_SUM_EN = """What is {a} * {b}?|{a} times {b}|{a}x{b}|{a} * {b} =|What is {a} / {b}?|{a} divided by {b}|{a}/{b}|What is {a}^{b}?|What
is {A} + {b}?|{A}+{B}=?|{A} - {b}|{a} + {B}|What is {A} minus {B}?|How much is {A} plus {b}?|What is {a} times {b}?|What is {a} + {b} +
{c}?|{a}+{b}-{c}|Multiply {a} by {b}.|Divide {a} by {b}.|Calculate {A} + {B}.""".replace("\n", " ").split("|")
OTHER_SUM_ZH = """{a}乘{b}等于多少？|{a}乘以{b}等于几？|{a}除以{b}等于多少？|{A}+{B}等于多少？|{A}加{b}等于多少？|{A}减{b}等于多少？|{a}加{B}是多少？|{a}×{b}|计算{A}+{B}|
{a}+{b}+{c}等于多少？|{a}*{b}是多少？|{a}的{b}次方是多少？""".replace("\n", "").split("|")

TELL_EN = """My name is {}.|I am {}.|I'm {}.|My name's {}.|Hello, my name is {}.|Hi, I'm {}.|Hi! I am {}.|Call me {}.|You can
call me {}.|Please call me {}.|Hello, I am {}.|Hey, my name is {}.|The name is {}.|Hi there, I'm {}.|People call me {}.|My name is
{}, nice to meet you.|I'm called {}.|Remember: my name is {}.|Please remember that my name is {}.|Good morning, I'm {}.|Hi, my name
is {}. Please remember it.|By the way, my name is {}.""".replace("\n", " ").split("|")
TELL_ZH = """我叫{}。|我是{}。|我的名字是{}。|你好，我叫{}。|你好，我是{}。|我的名字叫{}。|叫我{}吧。|你可以叫我{}。|请叫我{}。|大家好，我叫{}。|嗨，我是{}。|请记住，我叫{}。|
记住我的名字：{}。|您好，我的名字是{}。|我姓名是{}。|我叫{}，很高兴认识你。|早上好，我叫{}。|对了，我叫{}。|你好！我叫{}。|我名叫{}。""".replace("\n", "").split("|")
RECALL_EN = """What's my name?|What is my name?|Who am I?|Do you remember my name?|Do you know my name?|What did I say my name
was?|Tell me my name.|Can you tell me my name?|Say my name.|What am I called?|Do you still know my name?|So what is my name?|And what's my
name?|Please tell me my name.|Do you know who I am?|Which name did I give you?|Remember my name?|What was my name
again?|Now, what is my name?|what name did I tell you?|Repeat my name.""".replace("\n", " ").split("|")
RECALL_ZH = """我叫什么名字？|我叫什么？|我是谁？|我的名字是什么？|你还记得我的名字吗？|你知道我叫什么吗？|请问我叫什么名字？|我刚才说我叫什么？|说出我的名字。|
我的名字叫什么？|你记得我叫什么吗？|你知道我是谁吗？|还记得我吗？|那我叫什么？|现在告诉我，我叫什么名字？|我叫啥？|告诉我我的名字|你记得我是谁吗？|我的名字呢？""".replace("\n", "").split("|")

REPEAT_EN = ["Repeat: {}", "Say {}", "Repeat after me: {}", "Please repeat: {}", "Echo: {}", "Say: {}", "Please say {}", "Repeat this: {}"]
REPEAT_ZH = ["重复：{}", "请重复：{}", "跟我说：{}", "请说：{}", "复述：{}", "请跟我说：{}", "说：{}"]

ASK_WEATHER_EN = """What's the weather in {}?|What is the weather in {}?|How is the weather in {}?|How's the weather in {}?|weather in
{}|What is the weather like in {}?|What's the weather like in {} today?|Weather in {} please|Tell me the weather in {}.|What's the
weather in {} right now?|Can you check the weather in {}?|Get the weather for {}.|Please look up the weather in {}.|Is it raining in
{}?|Is it sunny in {}?|Is it cold in {}?|How warm is it in {}?|How hot is it in {} today?|What's the temperature in {}?|What is the
temperature in {} now?|Do I need an umbrella in {}?|I'm in {}. What's the weather?|Hello, what's the weather in {}?|{} weather|Show me the
forecast for {}.|What's the forecast for {}?|Will it rain in {} tomorrow?|And in {}?|What about {}?|I want to know the weather in
{}.|Could you tell me the weather in {}?|current weather in {}""".replace("\n", " ").split("|")
ASK_WEATHER_ZH = """{}天气怎么样？|{}的天气怎么样？|{}今天天气怎么样？|今天{}天气怎么样？|{}天气如何？|查一下{}的天气|{}的天气|请查询{}的天气。|{}天气|{}现在多少度？|
{}今天多少度？|{}下雨吗？|{}今天下雨吗？|{}冷吗？|{}热不热？|帮我查{}天气|告诉我{}的天气。|我想知道{}的天气。|{}的气温是多少？|你好，{}天气怎么样？|{}现在天气怎么样？|
{}明天天气怎么样？|请问{}今天的天气如何？|我在{}，天气怎么样？|{}需要带伞吗？|看看{}的天气|那{}呢？|{}那边天气好吗？""".replace("\n", "").split("|")
NO_CITY_EN = ["What's the weather?", "How is the weather today?", "Will it rain tomorrow?", "weather", "Is it cold outside?",
              "What is the weather like?", "What's the temperature?"]
NO_CITY_ZH = ["今天天气怎么样？", "天气怎么样？", "明天下雨吗？", "今天多少度？", "天气", "外面冷吗？"]
WHICH_CITY = {"en": "Which city?", "zh": "哪个城市？"}
CONDITIONS_EN = """sunny|cloudy|rain|light rain|heavy rain|snow|light snow|fog|windy|clear|clear sky|partly cloudy|overcast|
thunderstorm|hot|cold|mild|dry|humid|hail|showers|mostly sunny|storm""".replace("\n", "").split("|")
CONDITIONS_ZH = "晴|多云|阴|小雨|中雨|大雨|阵雨|雷阵雨|小雪|大雪|雾|大风|晴转多云|多云转晴|霾|雨夹雪|炎热|寒冷".split("|")


@dataclasses.dataclass
class Turn:
    skill: str
    language: str
    user: str
    thought: str
    answer: str


@dataclasses.dataclass
class Example:
    skill: str
    messages: list[dict]
    tools: list[dict] | None
    thinking: bool
    completion: str


def held_out_sum(a: int, b: int) -> bool:
    return (7 * a + b) % HELD_OUT_SUM == 0 or (7 * b + a) % HELD_OUT_SUM == 0


def working(a: int, b: int, sign: str) -> str:
    """The sum worked by columns, ones first: how a thought looks."""
    if sign == "-" and a < b:
        return f"{a}-{b} = -({b}-{a})\n" + working(b, a, sign)
    ones, tens = [a % 10, b % 10], [a // 10, b // 10]
    if sign == "+":
        carry = sum(ones) // 10
        return f"{ones[0]}+{ones[1]}={sum(ones)}\n{tens[0]}+{tens[1]}+{carry}={sum(tens) + carry}"
    borrow = int(ones[0] < ones[1])
    top = ones[0] + 10 * borrow
    return f"{top}-{ones[1]}={top - ones[1]}\n{tens[0]}-{tens[1]}-{borrow}={tens[0] - tens[1] - borrow}"


def sum_answer(a: int, b: int, sign: str, language: str) -> str:
    return f"{a} {sign} {b} = {a + b if sign == '+' else a - b}" + ("。" if language == "zh" else ".")


def weather_report(result: str, city: str, language: str) -> str:
    """What is said after a tool's result: temperature and condition where it has them, else the result itself."""
    try:
        fields = json.loads(result)
    except ValueError:
        fields = None
    if isinstance(fields, dict):
        degrees = next((v for k, v in fields.items() if k.startswith("temp")), None)
        sky = next((v for k, v in fields.items() if k in ("condition", "conditions", "weather", "description", "sky")), None)
        if degrees is not None and sky is not None:
            unit = {"en": " degrees, ", "zh": "度，"}[language]
            return answers.WEATHER[language].format(city, f"{degrees}{unit}{sky}")
    return answers.WEATHER[language].format(city, result.rstrip(".。"))


class Corpus:
    def __init__(self, seed: int, forbidden: frozenset[str] = frozenset()):
        """`forbidden` holds user texts (lower case, bare of punctuation) which are kept for the evaluation."""
        self.rng = random.Random(seed)
        self.forbidden = forbidden
        self.names, _ = words.split_held_out(words.NAMES_EN)
        self.cities_en, _ = words.split_held_out(words.CITIES_EN)
        self.cities_zh, _ = words.split_held_out(words.CITIES_ZH)
        self.phrasings = {
            language: [(skill, phrasing, thought, answer) for skill, phrasings, thought, answer in table
                       for phrasing in phrasings.replace("\n", " " if language == "en" else "").split("|")]
            for language, table in answers.FIXED.items()
        }

    def language(self) -> str:
        return self.rng.choice(["en", "zh"])

    def vary(self, text: str, language: str) -> str:
        """The same words as someone else would type them."""
        rng = self.rng
        if language == "en":
            if rng.random() < 0.2:
                text = text.lower()
            elif rng.random() < 0.75:
                text = text[:1].upper() + text[1:]
            ending = text[-1:] if text[-1:] in "?.!" else ""
            if rng.random() < 0.3:
                text = text.rstrip("?.!") + rng.choice(["", "", ".", "!", "?", "!!", "...", " ?", " :)", "\n"])
            if not ending.strip() and rng.random() < 0.3:
                text += rng.choice(["!", "."])
            if rng.random() < 0.04:
                text = rng.choice(["Hi! ", "Hello, ", "ok, ", "So, ", "Please: ", "Well, ", "Hey, "]) + text
            if rng.random() < 0.04:
                text = text.rstrip("?.!\n") + ", please" + ending
            return text
        if rng.random() < 0.3:
            text = text.rstrip("？。！") + rng.choice(["", "", "？", "。", "！", "?", "!", ".", "~", "吧", "呢？", "\n"])
        if rng.random() < 0.05:
            text = rng.choice(["请问", "你好，", "嗯，", "好的，", "那么，", "请"]) + text
        return text.replace("，", ",") if rng.random() < 0.1 else text

    # Skills: each gives one turn of its own.

    def fixed(self) -> Turn:
        language = self.language()
        skill, phrasing, thought, answer = self.rng.choice(self.phrasings[language])
        return Turn(skill, language, self.vary(phrasing, language), thought, answer)

    def operand(self) -> int:
        return self.rng.randint(0, 20) if self.rng.random() < 0.15 else self.rng.randint(0, 99)

    def sum(self) -> Turn:
        language, sign = self.language(), self.rng.choice("++-")
        while True:
            a, b = self.operand(), self.operand()
            if not held_out_sum(a, b):
                break
        if sign == "-" and a < b and self.rng.random() < 0.8:
            a, b = b, a
        table = {"en+": SUM_EN, "en-": SUB_EN, "zh+": SUM_ZH, "zh-": SUB_ZH}[language + sign]
        text = self.vary(self.rng.choice(table), language).replace("{a}", str(a)).replace("{b}", str(b))
        return Turn("sum", language, text, working(a, b, sign), sum_answer(a, b, sign, language))

    def other_sum(self) -> Turn:
        language, rng = self.language(), self.rng
        text = self.vary(rng.choice(OTHER_SUM_EN if language == "en" else OTHER_SUM_ZH), language)
        for slot in "abc":
            text = text.replace("{" + slot + "}", str(rng.randint(0, 99)))
        for slot in ("{A}", "{B}"):
            text = text.replace(slot, str(rng.randint(100, 10 ** rng.randint(3, 6))))
        thought = {"en": "Beyond my sums.", "zh": "超出了我会的加减法。"}[language]
        return Turn("other_sum", language, text, thought, answers.BIG_SUM[language])

    def noise(self) -> tuple[str, str]:
        """Text that means nothing to the demo, and its language."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            return " ".join(words.invented_word(rng) for _ in range(rng.randint(1, 6))), "en"
        if kind < 0.6:
            return words.invented_hanzi(rng, 2, 8), "zh"
        if kind < 0.7:
            script = rng.choice(words.OTHER_SCRIPTS)
            return " ".join("".join(rng.choice(script) for _ in range(rng.randint(2, 7))) for _ in range(3)), "en"
        if kind < 0.85:
            name, other = words.invented_word(rng), words.invented_word(rng)
            return rng.choice([f"def {name}({other}):\n    return {other}", f"SELECT {name} FROM {other};", f"<{name}>{other}</{name}>",
                               f"for (int i = 0; i < {name}; i++) {{ {other}(i); }}", json.dumps({name: other}),
                               f"{name}@{other}.com", f"https://www.{name}.org/{other}"]), "en"
        return "".join(rng.choice("0123456789 .,:;!?#$%&()[]{}*/<>=_-") for _ in range(rng.randint(2, 12))), "en"

    def topic(self, language: str) -> str:
        rng = self.rng
        if rng.random() < 0.6:
            return rng.choice(words.TOPICS_EN if language == "en" else words.TOPICS_ZH)
        if language == "en":
            return rng.choice(["", "the ", "a ", "my "]) + " ".join(words.invented_word(rng) for _ in range(rng.randint(1, 3)))
        return words.invented_hanzi(rng, 1, 6)

    def fallback(self) -> Turn:
        rng, language, kind = self.rng, self.language(), self.rng.random()
        if kind < 0.68:
            form = rng.choice(words.ASKS_EN if language == "en" else words.ASKS_ZH)
            text = self.vary(form, language)
            while "{}" in text:
                text = text.replace("{}", self.topic(language), 1)
            if rng.random() < 0.15:
                more = rng.choice(words.ASKS_EN if language == "en" else words.ASKS_ZH).replace("{}", self.topic(language))
                text += (" " if language == "en" else "") + more
        elif kind < 0.82:
            text = self.vary(rng.choice(words.STATEMENTS_EN if language == "en" else words.STATEMENTS_ZH), language)
        else:
            text, language = self.noise()
            if text.strip(" .,:;!?") == "" or any(c in "+-" for c in text):
                text = "?"
        thought = {"en": "Not something I can do.", "zh": "这个我不会。"}[language]
        return Turn("fallback", language, text, thought, answers.FALLBACK[language])

    def repeat(self) -> Turn:
        rng, language = self.rng, self.language()
        if language == "en":
            said = [words.invented_word(rng) if rng.random() < 0.7 else rng.choice(self.topic("en").split()) for _ in range(rng.randint(1, 5))]
            text = " ".join(said)
            text = text.capitalize() if rng.random() < 0.4 else text
        else:
            text = words.invented_hanzi(rng, 2, 6) if rng.random() < 0.6 else self.topic("zh")
        form = self.vary_start(rng.choice(REPEAT_EN if language == "en" else REPEAT_ZH))
        return Turn("repeat", language, form.format(text), {"en": "I repeat it.", "zh": "重复一遍。"}[language], text)

    def vary_start(self, form: str) -> str:
        return form.lower() if self.rng.random() < 0.2 else form

    def name(self, language: str) -> str:
        return words.name_en(self.rng, self.names) if language == "en" or self.rng.random() < 0.12 else words.name_zh(self.rng)

    def tell_name(self) -> tuple[Turn, str]:
        language = self.language()
        name = self.name(language)
        if self.rng.random() < 0.06:
            name = name.lower()
        form = self.rng.choice(TELL_EN if language == "en" else TELL_ZH)
        if self.rng.random() < 0.2:
            form = form.rstrip(".。") + self.rng.choice(["", "!", " "])
        if self.rng.random() < 0.15:
            form = form[0].lower() + form[1:]
        thought = {"en": "A name to remember.", "zh": "记住名字。"}[language]
        return Turn("tell_name", language, form.format(name), thought, answers.NICE[language].format(name)), name

    def recall_name(self, name: str | None) -> Turn:
        language = self.language()
        text = self.vary(self.rng.choice(RECALL_EN if language == "en" else RECALL_ZH), language)
        thought = {"en": "The user's name.", "zh": "用户的名字。"}[language]
        answer = answers.YOUR_NAME[language].format(name) if name else answers.NO_NAME[language]
        return Turn("recall_name" if name else "no_name", language, text, thought, answer)

    def city(self, language: str) -> str:
        rng = self.rng
        if language == "zh":
            return words.city_zh(rng, self.cities_zh) if rng.random() < 0.92 else words.city_en(rng, self.cities_en)
        city = words.city_en(rng, self.cities_en)
        return city.lower() if rng.random() < 0.08 else city

    def ask_weather(self) -> tuple[Turn, str]:
        """The question; its answer here is the one without a tool."""
        language = self.language()
        city = self.city(language)
        if language == "zh" and self.rng.random() < 0.06:
            language_of_form, city = "en", words.city_zh(self.rng, self.cities_zh)
            language = "zh"
            text = self.vary(self.rng.choice(ASK_WEATHER_EN), language_of_form).replace("{}", city)
        else:
            text = self.vary(self.rng.choice(ASK_WEATHER_EN[:27] + ASK_WEATHER_EN[29:] if language == "en" else ASK_WEATHER_ZH[:26] + ASK_WEATHER_ZH[27:]), language).replace("{}", city)
        thought = {"en": "I have no tool for that.", "zh": "没有可用的工具。"}[language]
        return Turn("no_tool", language, text, thought, answers.NO_WEATHER[language]), city

    def single(self) -> Turn:
        """Any turn that stands alone."""
        kind = self.rng.choices([self.fixed, self.sum, self.other_sum, self.fallback, self.repeat], [26, 46, 3, 20, 5])[0]
        return kind()

    # Conversations

    def history(self, turns: int) -> tuple[list[dict], str | None]:
        messages, name = [], None
        for _ in range(turns):
            if self.rng.random() < 0.12:
                turn, name = self.tell_name()
            elif self.rng.random() < 0.05:
                turn = self.recall_name(name)
            else:
                turn = self.single()
            self.append(messages, turn)
        return messages, name

    @staticmethod
    def append(messages: list[dict], turn: Turn) -> None:
        messages += [{"role": "user", "content": turn.user}, {"role": "assistant", "content": turn.answer}]

    def system_prompt(self) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.55:
            return rng.choice(answers.SYSTEM)
        if kind < 0.7:
            return " ".join(rng.choice(answers.SYSTEM) for _ in range(rng.randint(2, 5)))
        if kind < 0.85:
            language = self.language()
            form = rng.choice(["You are {}.", "You know all about {}.", "Talk about {}."] if language == "en" else ["你是{}。", "你只谈{}。"])
            return form.format(self.topic(language))
        return self.noise()[0]

    def tools(self, weather: bool) -> tuple[list[dict], str, str]:
        """Offered tools, and the weather tool's name and parameter."""
        rng = self.rng
        name = "get_weather" if rng.random() < 0.8 else rng.choice(["get_current_weather", "weather", "lookup_weather"])
        parameter = rng.choice(["city", "city", "city", "location", "location", "place"])
        offered = []
        if weather:
            offered.append(self.schema(name, rng.choice(["Get the weather.", "Get the weather in a city.", "Get current weather for a location",
                                                         "Returns the current weather.", "Look up the weather of a city", "查询天气", "查询城市的天气。", "Weather",
                                                         "Get the current weather for a city.", "Get the current weather in a given location"]), parameter))
        for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2]) if weather else rng.randint(1, 2)):
            other = rng.choice(["search", "get_time", "send_email", "get_stock_price", "translate", "calculator", "open_file",
                                words.invented_word(rng) + "_" + words.invented_word(rng)])
            offered.append(self.schema(other, rng.choice(["Search the web.", "Get the time.", "Send an email.", "", "Do something useful.", "查询信息"]),
                                       rng.choice(["query", "text", "name", "value", "id", words.invented_word(rng)])))
        rng.shuffle(offered)
        return offered, name, parameter

    def schema(self, name: str, description: str, parameter: str) -> dict:
        rng = self.rng
        field = {"type": "string"}
        if rng.random() < 0.5:
            field["description"] = rng.choice(["The city.", "City name", "The name of the city", "城市名称", "The location", "The city and state, e.g. San Francisco, CA",
                                               "城市", "A place", "e.g. Paris", "Name"])
        parameters = {"type": "object", "properties": {parameter: field}}
        if rng.random() < 0.15:
            parameters["properties"]["unit"] = {"type": "string", "enum": ["celsius", "fahrenheit"]}
        if rng.random() < 0.85:
            parameters["required"] = [parameter]
        if rng.random() < 0.15:
            parameters["additionalProperties"] = False
        function = {"name": name}
        if description and rng.random() < 0.9:
            function["description"] = description
        function["parameters"] = parameters
        if rng.random() < 0.1:
            function["strict"] = True
        return {"type": "function", "function": function}

    def weather_result(self, city: str, parameter: str, language: str) -> str:
        rng = self.rng
        degrees = rng.randint(-20, 42) if rng.random() < 0.85 else round(rng.uniform(-20, 42), 1)
        sky = rng.choice(CONDITIONS_ZH if language == "zh" and rng.random() < 0.7 else CONDITIONS_EN)
        if rng.random() < 0.3:
            return rng.choice(["{d}°C, {s}", "{d} °C and {s}", "{s}, {d} degrees", "{s}", "{d}°C", "{s}，{d}度", "It is {d} degrees and {s}.", "{d}C {s}", "{s} {d}℃"]
                              ).format(d=degrees, s=sky)
        fields = {rng.choice(["temperature", "temperature", "temperature", "temp", "temp_c", "temperature_c"]): degrees,
                  rng.choice(["condition", "condition", "conditions", "weather", "description", "sky"]): sky}
        items = list(fields.items())
        if rng.random() < 0.15:
            items.reverse()
        if rng.random() < 0.25:
            items.insert(0 if rng.random() < 0.7 else 2, (parameter, city))
        if rng.random() < 0.15:
            items.append(rng.choice([("humidity", rng.randint(10, 99)), ("wind", rng.randint(0, 30)), ("unit", "celsius")]))
        separators = (",", ":") if rng.random() < 0.15 else (", ", ": ")
        return json.dumps(dict(items), ensure_ascii=False, separators=separators)

    def conversation(self) -> tuple[list[dict], list[dict] | None, Turn]:
        rng = self.rng
        turns = rng.choices([0, 1, 2, 3, 5], [62, 20, 11, 5, 2])[0]
        messages, name = self.history(turns)
        tools = None
        kind = rng.choices(["single", "tell", "recall", "no_name", "weather", "result", "no_tool"], [70, 4, 10, 1.5, 7, 4.5, 3])[0]
        if kind == "single":
            turn = self.single()
            if rng.random() < 0.05:
                tools = self.tools(rng.random() < 0.6)[0]
        elif kind == "tell":
            turn, _ = self.tell_name()
        elif kind == "recall":
            told, name = self.tell_name()
            later = [] if rng.random() < 0.45 else self.history(rng.randint(1, 4))[0]
            turn = self.recall_name(name)
            if rng.random() < 0.1:
                turn.user, later, told = told.user + " " + turn.user, [], None
            if told:
                self.append(messages, told)
            # A name told in between is the newer one.
            messages, name = messages + later, self.newest_name(later) or name
            turn.answer = answers.YOUR_NAME[turn.language].format(name)
        elif kind == "no_name":
            turn = self.recall_name(name)
        elif kind == "no_tool":
            turn, _ = self.ask_weather()
            if rng.random() < 0.25:
                tools = self.tools(False)[0]
        else:
            messages = messages[: rng.choice([0, 2])] if len(messages) > 2 else messages
            tools, function, parameter = self.tools(True)
            turn, city = self.ask_weather()
            if rng.random() < 0.06 and kind == "weather":
                turn.user = self.vary(rng.choice(NO_CITY_EN if turn.language == "en" else NO_CITY_ZH), turn.language)
                turn.answer, turn.thought = WHICH_CITY[turn.language], {"en": "No city given.", "zh": "没有说城市。"}[turn.language]
                return messages, tools, turn
            arguments = {parameter: city}
            turn.skill, turn.thought = "weather", {"en": "I call the tool.", "zh": "调用工具。"}[turn.language]
            turn.answer = f'<tool_call>\n{{"name": "{function}", "arguments": {json.dumps(arguments, ensure_ascii=False)}}}\n</tool_call>'
            if kind == "result":
                call = {"role": "assistant", "content": "", "tool_calls": [
                    {"type": "function", "function": {"name": function, "arguments": json.dumps(arguments, ensure_ascii=False)}}]}
                if rng.random() < 0.4:
                    call["reasoning_content"] = turn.thought
                result = self.weather_result(city, parameter, turn.language)
                messages += [{"role": "user", "content": turn.user}, call, {"role": "tool", "content": result}]
                return messages, tools, Turn("result", turn.language, "", {"en": "The tool has answered.", "zh": "工具有了结果。"}[turn.language],
                                             weather_report(result, city, turn.language))
        return messages, tools, turn

    @staticmethod
    def newest_name(messages: list[dict]) -> str | None:
        name = None
        for message in messages:
            text = message["content"]
            if message["role"] == "assistant":
                if text.startswith("Nice to meet you, "):
                    name = text[len("Nice to meet you, "):-1]
                elif text.startswith("很高兴认识你，"):
                    name = text[len("很高兴认识你，"):-1]
        return name

    def example(self) -> Example:
        while True:
            messages, tools, turn = self.conversation()
            if turn.user.lower().strip(" ?.!。？！\n~") not in self.forbidden:
                break
        rng = self.rng
        thinking, thought = rng.random() < 0.5, turn.thought
        if turn.user:
            switch = rng.random()
            if switch < 0.05:
                turn.user += rng.choice([" /no_think", "/no_think", "\n/no_think"])
                thought = ""
            elif switch < 0.08:
                turn.user += rng.choice([" /think", "/think"])
            messages = messages + [{"role": "user", "content": turn.user}]
        if rng.random() < 0.3:
            messages = [{"role": "system", "content": self.system_prompt()}] + messages
        completion = (f"<think>\n{thought}\n</think>\n\n" if thinking else "") + turn.answer
        return Example(turn.skill, messages, tools, thinking, completion)
