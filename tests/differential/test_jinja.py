"""The Jinja interpreter against Python's jinja2, set up as transformers sets it up for chat templates.

Every case must give the same text, or an error on both sides. Run by pytest; the probe's path is in
QWICK_BUILD (default build/release). Needs jinja2; for the templates of real models also gguf.
"""

import datetime
import json
import os
import pathlib
import random
import subprocess
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import jinja_cases  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = pathlib.Path(os.environ.get("QWICK_TEST_MODELS", "~/.cache/qwick/test-models")).expanduser()
TEMPLATES = pathlib.Path(__file__).parent / "templates"


class Generation(jinja2.ext.Extension):
    """The `generation` tag: renders its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("render_body"), [], [], body).set_lineno(line)

    def render_body(self, caller):
        return caller()


class SafeDict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)


class SafeNamespace(jinja2.utils.Namespace):
    """A namespace that refuses names with an underscore in front."""

    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            SafeNamespace.check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        SafeNamespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(name)


def make_environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda format: datetime.datetime.now().strftime(format)
    environment.globals["dict"] = SafeDict()
    environment.globals["namespace"] = SafeNamespace
    return environment


ENVIRONMENT = make_environment()


def normalize(messages):
    """What transformers does to messages before a template sees them."""
    out = []
    for message in messages:
        names = ("reasoning_content", "thinking", "reasoning")
        reasoning = next((message[name] for name in names if message.get(name) is not None), None)
        message = {key: value for key, value in message.items() if value is not None}
        if reasoning is not None:
            message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
        out.append(message)
    return out


class Probe:
    def __init__(self):
        build = pathlib.Path(os.environ.get("QWICK_BUILD", ROOT / "build" / "release"))
        found = [path for path in (build / "tests" / "jinja_probe", build / "jinja_probe") if path.exists()]
        if not found:
            pytest.fail(f"no jinja_probe in {build}: build it first")
        self.process = subprocess.Popen([found[0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the probe died on {request}"
        return json.loads(line)


@pytest.fixture(scope="module")
def probe():
    return Probe()


def expected(template, variables):
    """(text, None) or (None, error) of jinja2."""
    try:
        if isinstance(template, str):
            template = ENVIRONMENT.from_string(template)
        return template.render(**variables), None
    except Exception as error:  # noqa: BLE001: jinja2 lets every kind of exception through
        return None, f"{type(error).__name__}: {error}"


class Tally:
    """Collects what differs, and says how much was compared."""

    def __init__(self, what):
        self.what = what
        self.texts = self.errors = 0
        self.differences = []

    def compare(self, case, wanted, answer):
        text, error = wanted
        if error is None and answer.get("text") == text:
            self.texts += 1
        elif error is not None and "error" in answer:
            self.errors += 1
        else:
            self.differences.append((case, text if error is None else error, answer))

    def check(self):
        print(f"\n{self.what}: {self.texts} equal texts, {self.errors} errors on both sides")
        for case, wanted, answer in self.differences[:40]:
            print(f"--- {case!r}\n  jinja2: {wanted!r}\n  qwick:  {answer!r}")
        assert not self.differences, f"{self.what}: {len(self.differences)} differ"
        assert self.texts > 0


def test_expressions(probe):
    tally = Tally("expressions")
    for source in jinja_cases.EXPRESSIONS:
        template = source if "{%" in source or "{{" in source else "{{ " + source + " }}"
        answer = probe.ask(template=template, variables=jinja_cases.VARIABLES)
        tally.compare(source, expected(template, jinja_cases.VARIABLES), answer)
    tally.check()


def test_statements(probe):
    tally = Tally("statements")
    for template in jinja_cases.STATEMENTS:
        answer = probe.ask(template=template, variables=jinja_cases.VARIABLES)
        tally.compare(template, expected(template, jinja_cases.VARIABLES), answer)
    tally.check()


KNOWN_LIMITS = (
    "not subscriptable by a slice",  # jinja2 folds constants when it compiles, and takes (1)[:2] for undefined
    "complex numbers are not supported",  # -1 ** 1.5
    "integer beyond 64 bits",
)


def test_generated_expressions(probe):
    """Operators, filters, tests and methods on values of every kind, combined at random."""
    tally = Tally("generated expressions")
    limits = 0
    generator = random.Random(20240607)
    for _ in range(20000):
        template = "{{ " + jinja_cases.random_expression(generator) + " }}"
        wanted = expected(template, jinja_cases.VARIABLES)
        if wanted[0] is not None and (" object at 0x" in wanted[0] or "<built-in" in wanted[0] or "<generator" in wanted[0]):
            continue  # an address in it
        answer = probe.ask(template=template, variables=jinja_cases.VARIABLES)
        if wanted[1] is None and any(known in answer.get("error", "") for known in KNOWN_LIMITS):
            limits += 1
            continue
        tally.compare(template, wanted, answer)
    tally.check()
    print(f"{limits} where jinja2 gives a text and we refuse, for a known reason")
    assert limits < 400


def real_templates():
    """Name to (template, why there is none)."""
    out = {}
    config = MODELS / "qwen3-tokenizer" / "tokenizer_config.json"
    missing = "no {}: get it by `make test-models`"
    out["qwen3"] = (json.loads(config.read_text())["chat_template"], None) if config.exists() else (None, missing.format(config))
    for name, file in (("smollm2", "smollm2-135m-instruct-q4_1.gguf"), ("qwen2.5-coder", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")):
        path = MODELS / file
        if path.exists():
            import gguf

            field = gguf.GGUFReader(path).fields["tokenizer.chat_template"]
            out[name] = (field.contents(), None)
        else:
            out[name] = (None, missing.format(path))
    for path in sorted(TEMPLATES.glob("*.jinja")):
        out[path.stem] = (path.read_text(), None)
    return out


REAL = real_templates()
CONVERSATIONS = 5000


@pytest.mark.parametrize("name", REAL)
def test_conversations(probe, name):
    template, missing = REAL[name]
    if missing:
        pytest.skip(missing)
    assert probe.ask(define=name, template=template) == {"ok": True}
    compiled = ENVIRONMENT.from_string(template)
    count = CONVERSATIONS if name == "qwen3" else 1000
    raw, chat = Tally(f"{name}, as jinja2"), Tally(f"{name}, as transformers")
    for seed in range(count):
        case = jinja_cases.random_conversation(random.Random(seed))
        variables = {"bos_token": "<s>", "eos_token": "</s>", **case["variables"]}
        variables |= {key: case[key] for key in ("messages", "tools", "add_generation_prompt")}
        raw.compare(case, expected(compiled, variables), probe.ask(use=name, variables=variables))
        if seed % 4 == 0:
            values = {**case["variables"], "bos_token": "<s>", "eos_token": "</s>"}
            seen = {"messages": normalize(case["messages"]), "tools": case["tools"], "documents": None,
                    "add_generation_prompt": case["add_generation_prompt"], **values}
            answer = probe.ask(chat=name, input={**case, "variables": values})
            chat.compare(case, expected(compiled, seen), answer)
    raw.check()
    chat.check()


def test_builtin_qwen3(probe):
    """The built-in template gives what the official one gives, wherever that gives anything."""
    template, missing = REAL["qwen3"]
    if missing:
        pytest.skip(missing)
    compiled = ENVIRONMENT.from_string(template)
    tally = Tally("built-in qwen3")
    more = 0
    for seed in range(CONVERSATIONS):
        case = jinja_cases.random_conversation(random.Random(seed))
        wanted = expected(compiled, {**case["variables"], "messages": normalize(case["messages"]), "tools": case["tools"],
                                     "add_generation_prompt": case["add_generation_prompt"]})
        answer = probe.ask(builtin="qwen3", input=case)
        if wanted[1] is None:
            tally.compare(case, wanted, answer)
        elif "text" in answer:
            more += 1
    tally.check()
    print(f"and {more} conversations that the official template refuses")
