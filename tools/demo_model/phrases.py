"""How the demo's users put sums, names and the weather: the phrasings that corpus.py fills in.

Slots: {a}, {b}, {c} numbers from 0 to 99, {A}, {B} larger ones, {} a name or a city.
"""

SUM_EN = """What is {a} + {b}?|What's {a} + {b}?|what is {a}+{b}|{a} + {b}|{a}+{b}|{a} + {b} =
?|{a}+{b}=?|{a}+{b}=|{a} + {b} =|What is {a} plus {b}?|What's {a} plus {b}?|{a} plus {b}|How much is {a}
plus {b}?|How much is {a} + {b}?|Calculate {a} + {b}.|Compute {a}+{b}|Add {a} and {b}.|Please add {a} and
{b}.|What is the sum of {a} and {b}?|Sum {a} and {b}|Can you add {a} and {b}?|Hello, what is {a} + {b}?|Tell
me {a} + {b}.|Solve {a} + {b}|What do you get if you add {a} and {b}?|Can you tell me what {a} + {b} is?|And
{a} + {b}?|Now {a} plus {b}.|what does {a} + {b} equal?|{a} and {b} makes?|I need {a} + {b}""".replace(
    "\n", " "
).split("|")
SUB_EN = """What is {a} - {b}?|What's {a} - {b}?|what is {a}-{b}|{a} - {b}|{a}-{b}|{a} - {b} =
?|{a}-{b}=?|{a}-{b}=|{a} - {b} =|What is {a} minus {b}?|What's {a} minus {b}?|{a} minus {b}|How much is {a}
minus {b}?|How much is {a} - {b}?|Calculate {a} - {b}.|Compute {a}-{b}|Subtract {b} from {a}.|What is {a}
take away {b}?|Hello, what is {a} - {b}?|Tell me {a} - {b}.|Solve {a} - {b}|Can you tell me what {a} - {b}
is?|And {a} - {b}?|Now {a} minus {b}.|what does {a} - {b} equal?|I need {a} - {b}""".replace("\n", " ").split(
    "|"
)
SUM_ZH = """{a}加{b}等于多少？|{a}加{b}等于几？|{a}+{b}等于多少？|{a}+{b}等于几？|{a} + {b} 等于多少|
{a}加{b}是多少？|{a}加上{b}等于多少？|{a}+{b}是多少？|算一下{a}+{b}|请计算{a}+{b}|计算{a}加{b}|
{a}和{b}的和是多少？|{a}加{b}|请问{a}加{b}等于多少？|请算{a}+{b}=？|{a}加{b}得多少？|
你好，{a}+{b}等于多少？|那{a}+{b}呢？|帮我算{a}+{b}|把{a}和{b}加起来|{a}与{b}之和|{a} 加 {b} 等于多少？|
告诉我{a}+{b}|{a}＋{b}＝？""".replace("\n", "").split("|")
SUB_ZH = """{a}减{b}等于多少？|{a}减{b}等于几？|{a}-{b}等于多少？|{a}-{b}等于几？|{a} - {b} 等于多少|
{a}减{b}是多少？|{a}减去{b}等于多少？|{a}-{b}是多少？|算一下{a}-{b}|请计算{a}-{b}|计算{a}减{b}|{a}减{b}|
请问{a}减{b}等于多少？|请算{a}-{b}=？|{a}减{b}得多少？|你好，{a}-{b}等于多少？|那{a}-{b}呢？|帮我算{a}-{b}|
从{a}里减去{b}|{a} 减 {b} 等于多少？|告诉我{a}-{b}""".replace("\n", "").split("|")
OTHER_SUM_EN = """What is {a} * {b}?|{a} times {b}|{a}x{b}|{a} * {b} =|What is {a} / {b}?|{a} divided by
{b}|{a}/{b}|What is {a}^{b}?|What is {A} + {b}?|{A}+{B}=?|{A} - {b}|{a} + {B}|What is {A} minus {B}?|How
much is {A} plus {b}?|What is {a} times {b}?|What is {a} + {b} + {c}?|{a}+{b}-{c}|Multiply {a} by
{b}.|Divide {a} by {b}.|Calculate {A} + {B}.""".replace("\n", " ").split("|")
OTHER_SUM_ZH = """{a}乘{b}等于多少？|{a}乘以{b}等于几？|{a}除以{b}等于多少？|{A}+{B}等于多少？|
{A}加{b}等于多少？|{A}减{b}等于多少？|{a}加{B}是多少？|{a}×{b}|计算{A}+{B}|{a}+{b}+{c}等于多少？|
{a}*{b}是多少？|{a}的{b}次方是多少？""".replace("\n", "").split("|")

TELL_EN = """My name is {}.|I am {}.|I'm {}.|My name's {}.|Hello, my name is {}.|Hi, I'm {}.|Hi! I am
{}.|Call me {}.|You can call me {}.|Please call me {}.|Hello, I am {}.|Hey, my name is {}.|The name is
{}.|Hi there, I'm {}.|People call me {}.|My name is {}, nice to meet you.|I'm called {}.|Remember: my name
is {}.|Please remember that my name is {}.|Good morning, I'm {}.|Hi, my name is {}. Please remember it.|By
the way, my name is {}.""".replace("\n", " ").split("|")
TELL_ZH = """我叫{}。|我是{}。|我的名字是{}。|你好，我叫{}。|你好，我是{}。|我的名字叫{}。|叫我{}吧。|
你可以叫我{}。|请叫我{}。|大家好，我叫{}。|嗨，我是{}。|请记住，我叫{}。|记住我的名字：{}。|
您好，我的名字是{}。|我姓名是{}。|我叫{}，很高兴认识你。|早上好，我叫{}。|对了，我叫{}。|你好！我叫{}。|
我名叫{}。""".replace("\n", "").split("|")
RECALL_EN = """What's my name?|What is my name?|Who am I?|Do you remember my name?|Do you know my name?|What
did I say my name was?|Tell me my name.|Can you tell me my name?|Say my name.|What am I called?|Do you still
know my name?|So what is my name?|And what's my name?|Please tell me my name.|Do you know who I am?|Which
name did I give you?|Remember my name?|What was my name again?|Now, what is my name?|what name did I tell
you?|Repeat my name.""".replace("\n", " ").split("|")
RECALL_ZH = """我叫什么名字？|我叫什么？|我是谁？|我的名字是什么？|你还记得我的名字吗？|你知道我叫什么吗？|
请问我叫什么名字？|我刚才说我叫什么？|说出我的名字。|我的名字叫什么？|你记得我叫什么吗？|你知道我是谁吗？|
还记得我吗？|那我叫什么？|现在告诉我，我叫什么名字？|我叫啥？|告诉我我的名字|你记得我是谁吗？|我的名字呢？""".replace(
    "\n", ""
).split(
    "|"
)

REPEAT_EN = [
    "Repeat: {}",
    "Say {}",
    "Repeat after me: {}",
    "Please repeat: {}",
    "Echo: {}",
    "Say: {}",
    "Please say {}",
    "Repeat this: {}",
]
REPEAT_ZH = ["重复：{}", "请重复：{}", "跟我说：{}", "请说：{}", "复述：{}", "请跟我说：{}", "说：{}"]

ASK_WEATHER_EN = """What's the weather in {}?|What is the weather in {}?|How is the weather in {}?|How's the
weather in {}?|weather in {}|What is the weather like in {}?|What's the weather like in {} today?|Weather in
{} please|Tell me the weather in {}.|What's the weather in {} right now?|Can you check the weather in
{}?|Get the weather for {}.|Please look up the weather in {}.|Is it raining in {}?|Is it sunny in {}?|Is it
cold in {}?|How warm is it in {}?|How hot is it in {} today?|What's the temperature in {}?|What is the
temperature in {} now?|Do I need an umbrella in {}?|I'm in {}. What's the weather?|Hello, what's the weather
in {}?|{} weather|Show me the forecast for {}.|What's the forecast for {}?|Will it rain in {} tomorrow?|And
in {}?|What about {}?|I want to know the weather in {}.|Could you tell me the weather in {}?|current weather
in {}""".replace("\n", " ").split("|")
ASK_WEATHER_ZH = """{}天气怎么样？|{}的天气怎么样？|{}今天天气怎么样？|今天{}天气怎么样？|{}天气如何？|
查一下{}的天气|{}的天气|请查询{}的天气。|{}天气|{}现在多少度？|{}今天多少度？|{}下雨吗？|{}今天下雨吗？|
{}冷吗？|{}热不热？|帮我查{}天气|告诉我{}的天气。|我想知道{}的天气。|{}的气温是多少？|你好，{}天气怎么样？|
{}现在天气怎么样？|{}明天天气怎么样？|请问{}今天的天气如何？|我在{}，天气怎么样？|{}需要带伞吗？|
看看{}的天气|{}那边天气好吗？""".replace("\n", "").split("|")
NO_CITY_EN = [
    "What's the weather?",
    "How is the weather today?",
    "Will it rain tomorrow?",
    "weather",
    "Is it cold outside?",
    "What is the weather like?",
    "What's the temperature?",
]
NO_CITY_ZH = ["今天天气怎么样？", "天气怎么样？", "明天下雨吗？", "今天多少度？", "天气", "外面冷吗？"]
WHICH_CITY = {"en": "Which city?", "zh": "哪个城市？"}
CONDITIONS_EN = """sunny|cloudy|rain|light rain|heavy rain|snow|light snow|fog|windy|clear|clear sky|partly
cloudy|overcast|thunderstorm|hot|cold|mild|dry|humid|hail|showers|mostly sunny|storm""".replace(
    "\n", " "
).split("|")
CONDITIONS_ZH = (
    "晴|多云|阴|小雨|中雨|大雨|阵雨|雷阵雨|小雪|大雪|雾|大风|晴转多云|多云转晴|霾|雨夹雪|炎热|寒冷".split("|")
)
