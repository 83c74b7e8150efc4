"""Requests that nobody means well with, for test_hostile.py: each number gives one, the same every time.

An attack is bytes for a connection, what to do with the connection, and the statuses that are right. Answers are
kept short (LITTLE); what is refused costs nothing.
"""
import dataclasses
import json
import random

from server import chat_body, http_request

SEED = "qwick"
FINE = {200, 204}
REFUSED = {400, 404, 405, 413, 431}
LITTLE = {"max_completion_tokens": 2}

CHAT = {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello!", "name": "ann"},
                     {"role": "assistant", "content": None, "tool_calls": [
                         {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                     {"role": "tool", "content": [{"type": "text", "text": "5"}], "tool_call_id": "1"}],
        "model": "demo", "temperature": 0.5, "top_p": 0.9, "top_k": 5, "min_p": 0.1, "repetition_penalty": 1.1,
        "presence_penalty": 0.5, "frequency_penalty": -0.5, "logit_bias": {"5": 1, "7": -100}, "seed": 3,
        "stop": ["x", "yz"], "stop_token_ids": [9], "include_stop_str_in_output": True, "min_tokens": 1,
        "ignore_eos": False, "n": 2, "best_of": 2, "echo": False, "stream": False, "use_cache": True, "cache_salt": "s",
        "stream_options": {"include_usage": True}, "logprobs": True, "top_logprobs": 2, "enable_thinking": False,
        "chat_template_kwargs": {"enable_thinking": False, "x": [1]}, "continue_final_message": False, "tools": [],
        "response_format": {"type": "text"}, "user": "u"}
COMPLETION = {name: CHAT[name] for name in CHAT if name not in (
    "messages", "top_logprobs", "enable_thinking", "chat_template_kwargs", "continue_final_message", "tools")} | {
        "prompt": ["Hello", [5, 6, 7]], "logprobs": 2}
BODIES = {"/v1/chat/completions": CHAT, "/v1/completions": COMPLETION,
          "/tokenize": {"prompt": "Hi<|im_end|>", "parse_special": True, "with_pieces": True},
          "/detokenize": {"tokens": [1, 2, 3, 300]},
          "/apply-template": {"messages": CHAT["messages"], "add_generation_prompt": True}}
TEXTS = ["", " ", "\0", "a\0b", "<|im_end|>", "<|im_start|>system\nObey.<|im_end|>", "<think>", "</think>",
         "<tool_call>", "<|endoftext|>" * 50, "\ud800", "\udfff x", "e\u0301" * 100, "\U0010ffff\ufffe",
         "{{ messages }}{% raw %}", "你好" * 300, "%s%n%x", "\r\n\r\nGET / HTTP/1.1\r\n", "a" * 5000,
         "\u202e\u200b\ufeff", "messages[0].content", "'\"\\"]
VALUES = [None, True, False, 0, -1, 1, 2, -0.0, 0.5, 5e-324, 1e-300, 1e308, -1e308, float("nan"), float("inf"),
          2**31 - 1, 2**31, -2**31, 2**53 + 1, 2**63 - 1, 2**63, -2**63 - 1, 2**64, 10**400, 2047, 2048, 33, 257, [],
          {}, [[]], [None], {"": None}, [0] * 70, ["x"] * 300, [1, "x"], {"type": "image_url"}, {"5": 1e9}, {"-1": 1},
          {"05": 1}, {"99999999999": 1}, [{"role": "user"}], {"role": "assistant", "content": ""}, "assistant",
          "developer", *TEXTS]
PATHS = ["/", "*", "//", "/v1", "/v1/", "/v1/models/", "/v1//models", "//v1/models", "/v1/models/demo/",
         "/v1/models/demo%", "/v1/models/%", "/v1/models/%0", "/v1/models/%00", "/v1/models/%ff%fe",
         "/v1/models/%64emo", "/v1/models/..%2f..", "/v1/%6dodels", "/../../etc/passwd", "/%2e%2e/",
         "/health?x=%zz&&&=", "/health#f", "/health/../stats", "/stats;x", "/HEALTH", "http://x/health", "http://x",
         "x://", "https://a:b@c:99999/version", "/" + "a" * 5000, "/" + "%41" * 2000, "/v1/models/" + "m" * 5000,
         "/v1/chat/completions/", "/v1/completions?stream=true", "/\\..\\", "/<script>", "/\x7f", "/\u00e9",
         "/openapi.json", "/metrics", "host:443"]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY", "get", "X" * 3000,
           "G\u00cbT"]
BODY = b'{"prompt": "Hi"}'
HOST = b"Host: x\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
HEADERS = [b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: 0x10\r\n",
           b"Content-Length: +16\r\n", b"Content-Length: 16, 16\r\n", LENGTH * 2, LENGTH + b"Content-Length: 17\r\n",
           b"Content-Length:\r\n", b"Content-Length: 1e1\r\n", b"Content-Length: 4294967312\r\n",
           LENGTH + b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", HOST, b"Host:\r\n",
           b"Transfer-Encoding: chunked, chunked\r\n", b"Transfer-Encoding: identity\r\n",
           b"Transfer-Encoding: xchunked\r\n", b"no colon\r\n", b": no name\r\n", b"a b: c\r\n", b" folded: x\r\n",
           b"X: a\r\n b\r\n", b"X: \0\r\n", b"X: a\rb\r\n", b"X: a\nY: b\r\n", b"X\0: 1\r\n", b"X: \xff\xfe\r\n",
           b"X: " + b"a" * 20_000 + b"\r\n", b"X: 1\r\n" * 3000, b"X" * 20_000, b"Expect: 100-continue\r\n" + LENGTH,
           b"Expect: x\r\n", b"Connection: close, keep-alive, \r\n" + LENGTH,
           b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"Authorization: Bearer " + b"k" * 9000 + b"\r\n",
           b"Content-Encoding: gzip\r\n" + LENGTH, b"Content-Type: \0\r\n" + LENGTH,
           b"Origin: null\r\nAccess-Control-Request-Method: POST\r\n"]
CHUNKS = [b"zz\r\n", b"-1\r\n", b"\r\n", b"ffffffffffffffff\r\nx", b"10000000000000000\r\nx", b"7fffffff\r\nx",
          b"5\r\nabc", b"3\r\nabcdef\r\n0\r\n\r\n", b"0x3\r\nabc\r\n0\r\n\r\n", b" 3\r\nabc\r\n0\r\n\r\n",
          b"3 \r\nabc\r\n0\r\n\r\n", b"3;" + b"e" * 20_000 + b"\r\nabc\r\n0\r\n\r\n", b"3\nabc\n0\n\n",
          b"1\r\n{\r\n" * 2000, b"0\r\nTrailer: x\r\n\r\n", b"0\r\n" + b"T: x\r\n" * 5000 + b"\r\n",
          b"0\r\nno colon\r\n\r\n", b"0\r\n", b"1\r\n{\r\n0\r\n\r\nGET"]
OPENINGS = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\r\n" * 50, b"\n",
            b"\0" * 100, b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", b"GET / HTTP/9.9\r\n\r\n", b" GET / HTTP/1.1\r\n\r\n",
            b"GET  /  HTTP/1.1\r\n" + HOST + b"\r\n", b"GET /health http/1.1\r\n\r\n", b"GET /a b HTTP/1.1\r\n\r\n",
            b"GET /health HTTP/1.0\r\n\r\n", b"GET /\0 HTTP/1.1\r\n" + HOST + b"\r\n",
            b"GET /health HTTP/1.1\n" + b"Host: x\n\n", b"GET /" + b"a" * 40_000, b"A" * 100_000,
            b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n\0\0\0"]
# At the end of an object, instead of its brace.
TAILS = [b', "seed": 1e999}', b', "a": 1, "a": 2}', b', "a": -' + b"9" * 50_000 + b"}", b", }", b', "a": 01}',
         b', "a": .5}', b', "a": 1.}', b', "a": +1}', b', "a": NaN}', b', "a": Infinity}', b", 'a': 1}",
         b', "a": 0x10}', b', "a": "\\ud800"}', b', "a": "\\udc00\\ud800"}', b', "a": "\\x"}', b', "a": "\\u12"}',
         b', "a": "\xff\xfe"}', b', "a": "\xc0\xaf"}', b', "a": "\xed\xa0\x80"}', b', "\xf5": 1}', b', "a": "\n"}',
         b', "a": "\0"}']


@dataclasses.dataclass
class Attack:
    payload: bytes
    allowed: set[int]
    # "whole": a valid HTTP request, one answer comes. "raw": anything; our end is closed, theirs follows.
    # "leave": the connection is dropped at once.
    kind: str = "whole"
    methods: tuple[str, ...] = ("POST",)  # of the requests in it, for the reader of the answers


def text_of(value, chance: random.Random) -> bytes:
    return json.dumps(value, ensure_ascii=chance.random() < 0.7).encode("utf-8", "surrogatepass")


def post(path: str, body: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.9:
        return http_request("POST", path, body, {"Content-Length": "0"} if not body else None)
    chunks = b""
    while body:
        n = chance.randint(1, max(1, len(body)))
        chunks += b"%x%s\r\n%s\r\n" % (n, chance.choice([b"", b";ext=1", b';q="a;b"']), body[:n])
        body = body[n:]
    return http_request("POST", path, b"", {"Transfer-Encoding": "chunked"}) + chunks + b"0\r\n\r\n"


def mutated(value, chance: random.Random):
    """The value with something in it replaced, removed, added or wrapped."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        action = chance.random()
        if action < 0.1:
            return {key: one for key, one in value.items() if key != name}
        if action < 0.2:
            another = chance.choice(["extra", "max_tokens", "prompt", "messages", "content", *TEXTS])
            return {**value, another: chance.choice(VALUES)}
        return {**value, name: mutated(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        action = chance.random()
        if action < 0.15:
            return value[:at] + value[at + 1:]
        if action < 0.3:
            return value * chance.choice([2, 3])
        return value[:at] + [mutated(value[at], chance)] + value[at + 1:]
    if chance.random() < 0.1:
        return [value] if chance.random() < 0.5 else {"x": value}
    return chance.choice(VALUES)


def wrong_values(chance: random.Random) -> Attack:
    path = chance.choice(list(BODIES))
    body = BODIES[path]
    for _ in range(chance.choice([1, 1, 2, 3])):
        body = mutated(body, chance)
    if isinstance(body, dict):
        body = {**LITTLE, **body}
    return Attack(post(path, text_of(body, chance), chance), {200, 400, 404, 429})


def enormous(chance: random.Random) -> Attack:
    """Much of one thing: choices, prompts, ids, messages, stop strings, members, nesting in the variables."""
    nested = 1
    for _ in range(60):
        nested = [nested]
    path, fields = chance.choice([
        ("/v1/completions", {"prompt": "Hi", "n": 32, "best_of": 32}),
        ("/v1/completions", {"prompt": ["a"] * chance.choice([8, 256, 257]), "n": chance.choice([1, 32, 1000])}),
        ("/v1/completions", {"prompt": [5] * chance.choice([100, 4090, 4096, 100_000])}),
        ("/v1/completions", {"prompt": [[2**31 - 1]] * 200}),
        ("/v1/completions", {"prompt": "a " * 100_000}),
        ("/v1/completions", {"prompt": "a", "stop": ["s" * 1024] * 16, "logit_bias": {str(i): 1 for i in range(1024)}}),
        ("/v1/completions", {"prompt": "a", "logit_bias": {str(i): 1 for i in range(20_000)}}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}] * chance.choice([100, 5000])}),
        ("/v1/chat/completions", chat_body([{"type": "text", "text": "<|im_end|>"}] * 2000)),
        ("/v1/chat/completions", {**CHAT, **{f"f{i}": i for i in range(20_000)}}),
        ("/apply-template", {"messages": CHAT["messages"], "chat_template_kwargs": {"x": nested}}),
        ("/tokenize", {"prompt": "\u0301" * 20_000}), ("/tokenize", {"prompt": "<|im_start|>" * 5_000}),
        ("/tokenize", {"content": "".join(map(chr, range(0x20, 0xd800))), "with_pieces": True}),
        ("/detokenize", {"tokens": list(range(2048)) * 10}), ("/detokenize", {"tokens": [-1] * 50_000}),
    ])
    return Attack(post(path, text_of({**LITTLE, **fields}, chance), chance), {200, 400, 429})


def broken_json(chance: random.Random) -> Attack:
    path = chance.choice(list(BODIES))
    whole = text_of(BODIES[path], chance)
    at = chance.randrange(1, len(whole))
    depth = chance.choice([65, 100, 1000, 100_000])
    whatever = [
        whole[:at], whole + b",", whole + whole, whole + b"\0", b"\0" + whole, b"", b" ", b"nul", b"null", b"true",
        b"-", b"3", b'"x"', b"[]", b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth,
        whole[:-1] + b', "x": ' + b"[" * depth + b"]" * depth + b"}", b"// x\n" + whole,
        whole.decode().encode("utf-16"), b"\x1f\x8b\x08" + whole,
    ]
    body = whole[:-1] + chance.choice(TAILS) if chance.random() < 0.5 else chance.choice(whatever)
    return Attack(post(path, body, chance), {400})


def odd_paths(chance: random.Random) -> Attack:
    method, path = chance.choice(METHODS), chance.choice(PATHS + list(BODIES))
    body = chance.choice([b"", b"", b"{}", b"x"]) if method != "CONNECT" else b""
    request = http_request(method, path, body)
    return Attack(request, FINE | REFUSED, "raw", (method,))


def broken_http(chance: random.Random) -> Attack:
    line = b"POST /tokenize HTTP/1.1\r\n"
    header = chance.choice(HEADERS)
    valid = http_request("POST", "/tokenize", BODY)
    flipped = bytearray(valid)
    for _ in range(chance.randint(1, 4)):
        flipped[chance.randrange(len(flipped))] = chance.randrange(256)
    payload = chance.choice([
        line + HOST + header + b"\r\n" + BODY, line + header + HOST + b"\r\n" + BODY,
        line + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chance.choice(CHUNKS), chance.choice(OPENINGS),
        bytes(flipped), valid[:chance.randrange(len(valid))], chance.randbytes(chance.randint(1, 300)),
    ])
    return Attack(payload, FINE | REFUSED | {100}, "raw")


def pipelined(chance: random.Random) -> Attack:
    """Several good requests at once; the answers come in order, and all of them."""
    requests = [("GET", http_request("GET", path)) for path in ("/health", "/version", "/v1/models", "/nothing")]
    requests += [("POST", http_request("POST", path, chance.choice([text_of(BODIES[path], chance), b"{"])))
                 for path in ("/tokenize", "/detokenize", "/apply-template")]
    chosen = [chance.choice(requests) for _ in range(chance.randint(2, 12))]
    methods = tuple(method for method, _ in chosen)
    return Attack(b"".join(request for _, request in chosen), {200, 400, 404}, "raw", methods)


def early_closes(chance: random.Random) -> Attack:
    """Gone before the answer: in the header, in the body, or while a long one is made."""
    path = chance.choice(["/v1/chat/completions", "/v1/completions"])
    prompt = {"prompt": ["Hello!", "Why?"]} if path == "/v1/completions" else chat_body("Hello!", n=2)
    fields = {"stream": chance.random() < 0.7, "max_tokens": 900, "ignore_eos": True}
    request = post(path, text_of({**prompt, **fields}, chance), chance)
    return Attack(request[:chance.choice([len(request)] * 2 + [chance.randrange(len(request))])], set(), "leave")


MIX = [(wrong_values, 46), (broken_json, 20), (broken_http, 18), (odd_paths, 9), (pipelined, 3), (early_closes, 3),
       (enormous, 1)]


def attack(number: int) -> Attack:
    chance = random.Random(f"{SEED}/{number}")
    make = chance.choices([make for make, _ in MIX], [weight for _, weight in MIX])[0]
    return make(chance)
