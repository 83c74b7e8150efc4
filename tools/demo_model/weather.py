"""The corpus's turns around a weather tool: questions, offered tools, calls, results and reports.

Used by corpus.py; `report` also says what evaluate.py may expect.
"""

import json

import answers
import phrases
import words
from turns import Turn, Turns

TOOL_NAMES = ["get_weather"] * 12 + ["get_current_weather", "weather", "lookup_weather"]
PARAMETERS = ["city"] * 6 + ["location"] * 6 + ["place", "town"]
DESCRIPTIONS = """Get the weather.|Get the weather in a city.|Get current weather for a location|Returns the current
weather.|Look up the weather of a city|查询天气|查询城市的天气。|Weather|Get the current weather for a city.|Get the current
weather in a given location""".replace(
    "\n", " "
).split(
    "|"
)
FIELD_DESCRIPTIONS = """The city.|City name|The name of the city|城市名称|The location|The city and state, e.g. San
Francisco, CA|城市|A place|e.g. Paris|Name""".replace(
    "\n", " "
).split(
    "|"
)
OTHER_TOOLS = "search|get_time|send_email|get_stock_price|translate|calculator|open_file".split("|")
OTHER_DESCRIPTIONS = "Search the web.|Get the time.|Send an email.||Do something useful.|查询信息".split("|")
RESULT_FORMS = """{d}°C, {s}|{d} °C and {s}|{s}, {d} degrees|{s}|{d}°C|{s}，{d}度|It is {d} degrees and
{s}.|{d}C {s}|{s} {d}℃""".replace("\n", " ").split("|")
DEGREES_KEYS = ["temperature", "temperature", "temperature", "temp", "temp_c", "temperature_c"]
SKY_KEYS = ["condition", "condition", "conditions", "weather", "description", "sky"]


def report(result: str, city: str, language: str) -> str:
    """What is said of a tool's result: temperature and condition where it has both, else the result itself."""
    try:
        fields = json.loads(result)
    except ValueError:
        fields = None
    if isinstance(fields, dict):
        degrees = next((v for k, v in fields.items() if k in DEGREES_KEYS), None)
        sky = next((v for k, v in fields.items() if k in SKY_KEYS), None)
        if degrees is not None and sky is not None:
            unit = {"en": " degrees, ", "zh": "度，"}[language]
            return answers.WEATHER[language].format(city, f"{degrees}{unit}{sky}")
    return answers.WEATHER[language].format(city, result.rstrip(".。"))


def call_text(name: str, arguments: dict) -> str:
    """How the model writes a call."""
    arguments_json = json.dumps(arguments, ensure_ascii=False)
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments_json}}}\n</tool_call>'


def call_message(name: str, arguments: dict) -> dict:
    """How a client hands that call back."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}


class Weather:
    def __init__(self, turns: Turns):
        self.turns, self.rng = turns, turns.rng

    def city(self, language: str) -> str:
        rng, turns = self.rng, self.turns
        if language == "zh" and not turns.chance(0.08):
            return words.city_zh(rng, turns.cities_zh)
        city = words.city_en(rng, turns.cities_en)
        return city.lower() if turns.chance(0.08) else city

    def ask(self) -> tuple[Turn, str]:
        """The question and its city; the answer here is the one without a tool."""
        turns, language = self.turns, self.turns.language()
        city = self.city(language)
        form = turns.vary(turns.choose(language, phrases.ASK_WEATHER_EN, phrases.ASK_WEATHER_ZH), language)
        thought = {"en": "I have no tool for that.", "zh": "没有可用的工具。"}[language]
        return (
            Turn("no_tool", language, form.replace("{}", city), thought, answers.NO_WEATHER[language]),
            city,
        )

    def ask_nowhere(self) -> Turn:
        """The question without a city, where a tool is offered."""
        turns, language = self.turns, self.turns.language()
        text = turns.vary(turns.choose(language, phrases.NO_CITY_EN, phrases.NO_CITY_ZH), language)
        thought = {"en": "No city given.", "zh": "没有说城市。"}[language]
        return Turn("no_city", language, text, thought, phrases.WHICH_CITY[language])

    def schema(self, name: str, description: str, parameter: str) -> dict:
        """A tool as OpenAI's clients describe it."""
        chance = self.turns.chance
        field = {"type": "string"}
        if chance(0.5):
            field["description"] = self.rng.choice(FIELD_DESCRIPTIONS)
        parameters = {"type": "object", "properties": {parameter: field}}
        if chance(0.15):
            parameters["properties"]["unit"] = {"type": "string", "enum": ["celsius", "fahrenheit"]}
        if chance(0.85):
            parameters["required"] = [parameter]
        if chance(0.15):
            parameters["additionalProperties"] = False
        function = {"name": name}
        if description and chance(0.9):
            function["description"] = description
        function["parameters"] = parameters
        if chance(0.1):
            function["strict"] = True
        return {"type": "function", "function": function}

    def other_tools(self, count: int) -> list[dict]:
        rng, tools = self.rng, []
        for _ in range(count):
            name = rng.choice(OTHER_TOOLS + [words.invented_word(rng) + "_" + words.invented_word(rng)])
            parameter = rng.choice(["query", "text", "name", "value", "id", words.invented_word(rng)])
            tools.append(self.schema(name, rng.choice(OTHER_DESCRIPTIONS), parameter))
        return tools

    def tools(self) -> tuple[list[dict], str, str]:
        """Offered tools, one of them for the weather: that one's name and parameter."""
        rng = self.rng
        name, parameter = rng.choice(TOOL_NAMES), rng.choice(PARAMETERS + [words.invented_word(rng)] * 5)
        tools = self.other_tools(rng.choice([0, 0, 0, 0, 1, 1, 2]))
        tools.append(self.schema(name, rng.choice(DESCRIPTIONS), parameter))
        rng.shuffle(tools)
        return tools, name, parameter

    def result(self, city: str, parameter: str, language: str) -> str:
        rng, chance = self.rng, self.turns.chance
        degrees = rng.randint(-20, 42) if chance(0.85) else round(rng.uniform(-20, 42), 1)
        sky = rng.choice(phrases.CONDITIONS_ZH if language == "zh" and chance(0.7) else phrases.CONDITIONS_EN)
        if chance(0.3):
            return rng.choice(RESULT_FORMS).format(d=degrees, s=sky)
        items = [(rng.choice(DEGREES_KEYS), degrees), (rng.choice(SKY_KEYS), sky)]
        if chance(0.15):
            items.reverse()
        if chance(0.25):
            items.insert(0 if chance(0.7) else 2, (parameter, city))
        if chance(0.15):
            more = [("humidity", rng.randint(10, 99)), ("wind", rng.randint(0, 30)), ("unit", "celsius")]
            items.append(rng.choice(more))
        separators = (",", ":") if chance(0.15) else (", ", ": ")
        return json.dumps(dict(items), ensure_ascii=False, separators=separators)

    def call(self) -> tuple[list[dict], Turn]:
        """The tools and a turn that calls one."""
        tools, name, parameter = self.tools()
        turn, city = self.ask()
        turn.skill, turn.thought = "weather", {"en": "I call the tool.", "zh": "调用工具。"}[turn.language]
        turn.answer = call_text(name, {parameter: city})
        return tools, turn

    def answered(self) -> tuple[list[dict], list[dict], Turn]:
        """The tools, the messages up to a tool's result, and the turn that reports it: its `user` is empty."""
        tools, name, parameter = self.tools()
        asked, city = self.ask()
        language = asked.language
        called = call_message(name, {parameter: city})
        if self.turns.chance(0.4):
            called["reasoning_content"] = {"en": "I call the tool.", "zh": "调用工具。"}[language]
        result = self.result(city, parameter, language)
        messages = [{"role": "user", "content": asked.user}, called, {"role": "tool", "content": result}]
        thought = {"en": "The tool has answered.", "zh": "工具有了结果。"}[language]
        return tools, messages, Turn("result", language, "", thought, report(result, city, language))
