"""Word lists of the demo's corpus: names, cities, topics, and makers of strings no list holds.

Used by corpus.py and evaluate.py. Names and cities are split once into those for training and those
held out, so that the evaluation measures copying and not memory.
"""

import random

NAMES_EN = """Ada Alan Alice Amir Anna Ben Bob Carl Carla Charlie Chen Clara Daniel David Dora Edgar Ella
Emma Eric Eva Felix Fiona Frank Grace Greta Hana Harry Helen Henry Hugo Ida Igor Irene Ivan Jack Jane
Jim John Julia Karl Kate Ken Lara Laura Leo Lily Linus Lisa Lucas Lucy Maria Mark Marta Mary Max Mia
Mike Mila Nadia Nick Nina Noah Nora Olga Oliver Omar Oscar Paul Pedro Peter Petra Quinn Rachel Ravi Rita
Robert Rosa Ruth Sam Sara Simon Sofia Stefan Susan Tara Theo Tim Tom Ursula Vera Victor Wanda Wendy
Will Xavier Yuki Yusuf Zara Zoe""".split()
CITIES_EN = """Paris London Berlin Naples Rome Vienna Prague Oslo Stockholm Helsinki Dublin Lisbon Athens
Warsaw Budapest Brussels Amsterdam Zurich Geneva Munich Hamburg Milan Madrid Barcelona Kyiv Moscow Istanbul
Cairo Nairobi Lagos Accra Tunis Dakar Tokyo Osaka Kyoto Seoul Beijing Busan Shanghai Shenzhen Hangzhou
Chengdu Taipei Bangkok Hanoi Manila Jakarta Singapore Delhi Mumbai Karachi Dhaka Tehran Dubai Doha Boston
Chicago Dallas Denver Houston Miami Seattle Toronto Montreal Vancouver Havana Lima Bogota Quito Santiago
Sydney Melbourne Perth Auckland""".split()
CITIES_EN_LONG = [
    "New York",
    "San Francisco",
    "Los Angeles",
    "Hong Kong",
    "Rio de Janeiro",
    "Cape Town",
    "Mexico City",
    "Buenos Aires",
    "Tel Aviv",
    "Kuala Lumpur",
    "New Delhi",
    "Salt Lake City",
]
CITIES_ZH = """北京 上海 广州 苏州 杭州 南京 深圳 武汉 成都 重庆 太原 天津 长沙 郑州 青岛 大连 厦门 福州 济南
合肥 昆明 贵阳 南宁 海口 三亚 哈尔滨 长春 沈阳 石家庄 西安 兰州 银川 西宁 拉萨 乌鲁木齐 香港 澳门 台北 无锡
宁波 温州 桂林 洛阳 巴黎 伦敦 首尔 东京 柏林 罗马 纽约 悉尼 莫斯科 新加坡 曼谷 旧金山""".split()
SURNAMES_ZH = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕"
GIVEN_ZH = "明红华伟芳娜敏静丽强磊军洋勇艳杰娟涛超霞平刚桂英文玉云海波梅兰竹菊雨雪晨阳月星辰思雅欣怡佳宁浩然天宇子轩梓涵"
FORMS_ZH = ["小{}", "阿{}", "{}{}", "老{}"]

TOPICS_EN = """the capital of France|the history of Rome|quantum physics|black holes|the stock market|my
homework|a cover letter|photosynthesis|the meaning of life|machine learning|neural networks|gravity|the moon
landing|a good pasta recipe|how to cook rice|the best phone|football|the world cup|chess openings|my car|a
trip to Japan|the price of gold|the news|the president of the United States|the tallest
mountain|dinosaurs|the ocean|climate change|electric cars|a business plan|a birthday present|my back pain|a
headache|taxes|the law|a contract|an email to my boss|a haiku|a story about a dragon|a song|the piano|guitar
chords|a Python function|a sorting algorithm|binary search|a SQL query|regular expressions|C++
templates|Rust lifetimes|a web server|docker|kubernetes|linear algebra|the derivative of x squared|prime
numbers|the square root of two|a triangle|French verbs|Spanish words|German grammar|a translation|the word
apple|Shakespeare|Mozart|Picasso|the French revolution|world war two|ancient Egypt|the Great
Wall|vitamins|protein|running|yoga|sleep|dreams|love|my girlfriend|my dog|cats|birds|bees|trees|flowers|the
garden|the kitchen|a cake|coffee|tea|wine|beer|bread|the internet|email|passwords|a printer|my laptop|a
keyboard|a camera|a film|a book about trains|the theory of evolution|DNA|a virus|a vaccine|blood
pressure|the heart|the brain|philosophy|Kant|ethics|religion|the economy|a loan|a mortgage|insurance|a job
interview|my salary|a meeting|a schedule|the calendar|the date|the time|a train|a flight to Madrid|a hotel
in Rome|a visa|a map of London|the population of Paris|the traffic in Berlin|the mayor of Boston|the food in
Tokyo|the name of this song|the number of planets|the sum of all angles|my favourite colour|the rain
forest|solar wind|the sun|the result of the match|large language models|what a transformer is|open
source|this text|the following sentence|a list of fruits|three facts about whales|random numbers|a riddle|a
secret|your opinion|your favourite film|your age|your parents|the future""".replace("\n", " ").split("|")
ASKS_EN = """What is {}?|What's {}?|Translate this into French: {}|Correct this sentence: {}|Fix this:
{}|Summarize this text: {}|Debug: {}|Rewrite: {}|Complete: {}|What did you do with {}?|What is the size of
{}?|What is the colour of {}?|Can you buy {}?|Can you find {} for me?|Tell me about {}.|Explain {}.|Explain
{} to me like I'm five.|Can you help me with {}?|Help me with {}.|I need help with {}.|Write about {}.|Write
a short text about {}.|Write an essay on {}.|How does {} work?|Why is {} important?|Who invented {}?|Where
can I find {}?|When did {} start?|Give me an overview of {}.|Give me five ideas for {}.|Summarize
{}.|Describe {}.|What do you think about {}?|What do you know about {}?|I want to learn about {}.|Is {}
good?|Do you like {}?|Do you know {}?|How can I improve {}?|How do I fix {}?|Compare {} and {}.|What is the
difference between {} and {}?|Please tell me everything about {}.|Let's talk about {}.|I like {}.|I don't
like {}.|I'm thinking about {}.|My problem is {}.|Translate {} into Chinese.|Show me {}.|Find {}.|Search for
{}.|Should I buy {}?|{}|{}?|Write code for {}.|Which is better, {} or {}?|How much does {} cost?|How many
people know {}?|Can you explain {} in simple words?|In one sentence, what is {}?|Make a table about {}.|List
the main points of {}.|Create {}.|Imagine {}.|Draw {}.|Play {}.|Open {}.|Turn on {}.|What happened to
{}?|Who is {}?|Are you {}?|Can you do {}?|Could you write {}?""".replace("\n", " ").split("|")
TOPICS_ZH = """法国的首都|罗马的历史|量子力学|黑洞|股票|我的作业|求职信|光合作用|人生的意义|机器学习|
神经网络|万有引力|登月|红烧肉的做法|怎么煮米饭|最好的手机|足球|世界杯|围棋|我的车|去日本旅游|黄金的价格|
今天的新闻|美国总统|最高的山|恐龙|大海|气候变化|电动车|商业计划|生日礼物|头痛|税|法律|合同|给老板的邮件|
一首歌|钢琴|吉他|一个函数|排序算法|二分查找|数据库|正则表达式|网页|容器|线性代数|微积分|质数|三角形|
英语语法|法语单词|这句话的翻译|李白|杜甫|红楼梦|莫扎特|秦始皇|唐朝|长城|维生素|跑步|瑜伽|睡眠|梦|爱情|
女朋友|我的狗|猫|鸟|树|花园|厨房|蛋糕|咖啡|茶叶|酒|面包|互联网|密码|打印机|电脑|键盘|相机|电影|进化论|基因|
病毒|疫苗|血压|心脏|大脑|哲学|经济|贷款|房价|保险|面试|工资|会议|日程|日期|现在的时间|火车票|去上海的机票|
北京的酒店|签证|地图|上海的人口|北京的交通|杭州的美食|这首歌的名字|行星的数量|我喜欢的颜色|雨林|太阳|
比赛结果|大语言模型|注意力机制|开源软件|这段文字|下面的句子|水果的名字|鲸鱼|随机数|谜语|秘密|你的看法|
你的年龄|未来|夏天|冬天的雪|秋天的树叶|七言诗|散文|小说|作文|一篇文章|广告词|演讲稿|故事""".replace(
    "\n", ""
).split("|")
ASKS_ZH = """什么是{}？|把这段话翻译成法语：{}|翻译成英语：{}|改正：{}|总结：{}|改写：{}|续写：{}|
你昨天看了{}吗？|你吃过{}吗？|{}的大小是多少？|{}是什么颜色的？|帮我买{}|帮我找{}|{}是什么？|介绍一下{}。|
请介绍{}。|解释一下{}。|解释{}|讲讲{}|说说{}|帮我写{}|写一篇关于{}的文章|写一段{}|请帮我处理{}。|
我想了解{}。|怎么学{}？|如何提高{}？|{}怎么样？|{}好不好？|{}有什么用？|为什么{}很重要？|谁发明了{}？|
哪里有{}？|你知道{}吗？|你喜欢{}吗？|你觉得{}怎么样？|我喜欢{}。|我不喜欢{}。|{}和{}有什么区别？|
{}和{}哪个好？|比较一下{}和{}。|总结{}。|描述{}。|翻译{}|列出{}的要点。|给我五个关于{}的建议。|
用一句话说明{}。|告诉我{}|查一下{}|搜索{}|{}多少钱？|{}|{}？|帮帮我，{}|推荐{}|请写出{}的代码|
关于{}，你怎么看？|我在想{}|打开{}|画{}|{}的原理是什么？|{}是谁？|{}在哪里？|你会{}吗？|能不能帮我{}""".replace(
    "\n", ""
).split(
    "|"
)
STATEMENTS_EN = """I am hungry.|What did you do yesterday?|Did you sleep well?|What have you seen?|Where do
you live?|How old are you?|It is late.|The cat sat on the mat.|I live in Madrid.|I work in Berlin.|I come
from London.|I am 25 years old.|I have two brothers.|My dog is called Rex.|My sister's name is Lucy.|My boss
is angry.|The name of my cat is Tom.|I lost my keys.|Yes.|No.|OK|Maybe.|Sure.|Why?|How?|Really?|Continue.|Go
on.|More.|Again.|Wrong.|I don't understand.|That is not true.|You are wrong.|Test|Testing|foo|lorem
ipsum|asdf|What?|hmm|help|Help me!|stop|Sing!|Be quiet.|I love you.|I am sad.|I'm bored.|Wake up|Are you
human?|Do you sleep?|Where are you?|What day is it?|What time is it?|What's new?|What's for dinner?|Who am I
talking about?|Is it far?|Once upon a time|To be or not to be|The quick brown fox|Count to ten.|Count from 1
to 20.|Pick a number.|Roll a die.|Flip a coin.|Is 7 prime?|What is pi?|What is infinity?""".replace(
    "\n", " "
).split("|")
STATEMENTS_ZH = """我饿了。|你昨天做了什么？|你昨晚睡得好吗？|你看到了什么？|你住在哪里？|你几岁了？|
很晚了。|我住在上海。|我在北京工作。|我来自广州。|我今年25岁。|我有两个哥哥。|我的狗叫旺财。|我妹妹叫小花。|
老板生气了。|我丢了钥匙。|是的。|不是。|好的。|也许吧。|为什么？|怎么办？|真的吗？|继续。|再来一个|不对。|
我不明白。|你错了。|测试|测试一下|什么？|嗯|帮我|救命|唱首歌|别说话|我爱你|我很难过|我好无聊|醒醒|
你是人吗？|你睡觉吗？|你在哪里？|今天星期几？|现在几点？|晚饭吃什么？|从一数到十|从前有座山|床前明月光|
天气预报是怎么做的？|想一个数字|掷骰子|七是质数吗？|圆周率是多少？""".replace("\n", "").split("|")

# GB 2312's first level: the 3,755 most used Hanzi, out of the codec.
HANZI = [
    bytes([row, cell]).decode("gb2312")
    for row in range(0xB0, 0xD8)
    for cell in range(0xA1, 0xFF)
    if not (row == 0xD7 and cell > 0xF9)
]
REQUEST_HANZI = sorted(
    {c for text in TOPICS_ZH + ASKS_ZH + STATEMENTS_ZH + CITIES_ZH for c in text if "\u4e00" <= c <= "\u9fff"}
    | set("加减等于多少叫名字姓记住天气怎样算计和你我他是请说重复")
)
OTHER_SCRIPTS = [
    "абвгдежзиклмнопрстуфхцчшыэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "あいうえおかきくけこさしすせそたちつてとなにぬねの",
    "가나다라마바사아자차카타파하",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "ابتثجحدذرزسشصضطظعغفقكلمنهوي",
]


def split_held_out(words: list[str]) -> tuple[list[str], list[str]]:
    """Every seventh word is held out."""
    return [w for i, w in enumerate(words) if i % 7 != 3], [w for i, w in enumerate(words) if i % 7 == 3]


def invented_word(rng: random.Random) -> str:
    """A lower-case word that can nearly be spoken, or now and then just letters."""
    if rng.random() < 0.25:
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(2, 7)))
    consonants = "b c d f g h j k l m n p r s t v w x y z br ch cl dr fr gr kr pl qu sh st th tr".split()
    vowels, ends = (
        "a e i o u a e i o u ai ea ee ia io oo ou y".split(),
        "n l r s m t x k nd ng ck th lle".split(),
    )
    word = "".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(rng.choice([1, 2, 2, 2, 3])))
    return (
        (rng.choice(vowels) if rng.random() < 0.2 else "")
        + word
        + (rng.choice(ends) if rng.random() < 0.5 else "")
    )


def invented_hanzi(rng: random.Random, least: int = 2, most: int = 3) -> str:
    """Any Hanzi, and often such as the requests are made of: these are tokens of their own, to be copied too."""
    pools = rng.choices([HANZI, REQUEST_HANZI], [55, 45], k=rng.randint(least, most))
    return "".join(rng.choice(pool) for pool in pools)


def name_en(rng: random.Random, known: list[str]) -> str:
    name = rng.choice(known) if rng.random() < 0.35 else invented_word(rng).capitalize()
    if rng.random() < 0.1:
        name += " " + (rng.choice(known) if rng.random() < 0.3 else invented_word(rng).capitalize())
    return name


def name_zh(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.3:
        return rng.choice(SURNAMES_ZH) + "".join(rng.choice(GIVEN_ZH) for _ in range(rng.randint(1, 2)))
    if kind < 0.55:
        return rng.choice(FORMS_ZH).format(*[rng.choice(GIVEN_ZH + SURNAMES_ZH)] * 2)
    return invented_hanzi(rng, 2, 3)


def city_en(rng: random.Random, known: list[str]) -> str:
    kind = rng.random()
    if kind < 0.55:
        return rng.choice(known)
    if kind < 0.63:
        return rng.choice(CITIES_EN_LONG)
    return " ".join(invented_word(rng).capitalize() for _ in range(2 if kind > 0.92 else 1))


def city_zh(rng: random.Random, known: list[str]) -> str:
    return rng.choice(known) if rng.random() < 0.45 else invented_hanzi(rng, 2, 3)
