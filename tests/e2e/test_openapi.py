"""The OpenAPI document against the running server: schemathesis makes requests of it, valid and not; fields are
compared with the tables in the sources."""
import copy
import json
import re

import jsonschema_rs
import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.generation import GenerationMode
from server import ROOT, Server, chat_body, events

DOCUMENT = json.loads((ROOT / "src/api/openapi.json").read_text(encoding="utf-8"))
SCHEMAS = DOCUMENT["components"]["schemas"]
PATHS = DOCUMENT["paths"]
OPERATIONS = [(path, method, operation) for path, item in PATHS.items() for method, operation in item.items()]
VOCABULARY = 2048  # of the demo
MAX_INT = 2**31 - 1

# What no schema can say: such refusals of a request that fits its schema are right.
REASONS_BEYOND_SCHEMAS = [
    "maximum context length", "the context has room for", "the model has no token", "must not be more than max_",
    "must not be less than n", "can't be more than n in a stream", 'needs "logprobs": true', "contradicts",
    "the last message", "does not show the last message", "can be 0 only with", "answers at most",
    "must not be longer than 1024 bytes", "integers beyond 64 bits",
]


def references(node) -> set[str]:
    """The component schemas that a part of the document leads to."""
    found, todo = set(), [node]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix("#/components/schemas/")
            if name in SCHEMAS and name not in found:
                found.add(name)
                todo.append(SCHEMAS[name])
            todo += node.values()
        elif isinstance(node, list):
            todo += node
    return found


def closed(node):
    """A schema that allows no members but those that it names."""
    if isinstance(node, list):
        return [closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    node = {name: closed(value) for name, value in node.items()}
    if isinstance(node.get("properties"), dict):
        node.setdefault("additionalProperties", False)
    return node


def strict_document() -> dict:
    """Requests as they are; in answers, nothing that is not described."""
    document = copy.deepcopy(DOCUMENT)
    of_requests = references([operation.get("requestBody") for _, _, operation in OPERATIONS])
    for name in set(SCHEMAS) - of_requests:
        document["components"]["schemas"][name] = closed(SCHEMAS[name])
    document["components"]["responses"] = closed(document["components"]["responses"])
    return document


STRICT = strict_document()


def validator(name: str):
    return jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", "components": STRICT["components"]})


def with_plain_integers(value):
    """1 for 1.0, which are the same in JSON Schema but not here."""
    if isinstance(value, dict):
        return {name: with_plain_integers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [with_plain_integers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def tame(body):
    """The same request with little to generate, valid or invalid as before."""
    if not isinstance(body, dict):
        return body
    body = with_plain_integers(body)

    def small_id(value):
        return value % VOCABULARY if type(value) is int and 0 <= value <= MAX_INT else value

    def small_ids(value):
        return [small_ids(one) if isinstance(one, list) else small_id(one) for one in value]

    for name, most in {"max_tokens": 2, "max_new_tokens": 2, "max_completion_tokens": 2, "min_tokens": 1, "n": 2,
                       "best_of": 3}.items():
        if type(body.get(name)) is int and most < body[name] <= (MAX_INT if "tokens" in name else 32):
            body[name] = most
    if "max_tokens" not in body or body["max_tokens"] is None:
        body["max_tokens"] = 2
    for name in "prompt", "tokens", "stop_token_ids":
        if isinstance(body.get(name), list):
            body[name] = small_ids(body[name])
    if isinstance(body.get("logit_bias"), dict):
        body["logit_bias"] = {str(int(name) % VOCABULARY) if re.fullmatch("0|[1-9][0-9]{0,9}", name) else name: value
                              for name, value in body["logit_bias"].items()}
    if isinstance(body.get("model"), str):
        body["model"] = "demo"
    return body


class WrongRefusal(Failure):
    pass


def valid_is_accepted(_context, response, case):
    """A request that fits its schema has an answer, or a reason for a refusal that no schema can say."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE or response.status_code < 400:
        return
    error = response.json()["error"]
    if error["code"] == "model_not_found" or any(reason in error["message"] for reason in REASONS_BEYOND_SCHEMAS):
        return
    raise WrongRefusal(operation=case.operation.label, title="A valid request is refused", message=error["message"])


described = schemathesis.openapi.from_dict(STRICT, config=SchemathesisConfig.from_dict({
    "seed": 1,
    "output": {"sanitization": {"enabled": False}},
    "generation": {"max-examples": 15, "deterministic": True, "database": "none"},
    "checks": {"positive_data_acceptance": {"enabled": False}},  # valid_is_accepted is stricter
}))


def stream_conforms(_context, response, case):
    """Each event of a stream is as the document says."""
    if not response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
        return
    chunk = validator("ChatCompletionChunk" if "chat" in case.path else "CompletionChunk")
    *chunks, last = events(response.content)
    assert last == "[DONE]"
    for one in chunks:
        chunk.validate(one)


@described.parametrize()
def test_the_server_does_what_the_document_says(case, demo):
    case.body = tame(case.body)
    case.call_and_validate(base_url=f"http://{demo.host}:{demo.port}",
                           additional_checks=[valid_is_accepted, stream_conforms])


def test_the_document_is_valid_and_served(demo):
    described.validate()
    reply = demo.request("GET", "/openapi.json")
    assert reply.status == 200 and reply.headers["content-type"] == "application/json"
    assert reply.json() == DOCUMENT
    assert reply.json()["info"]["version"] == demo.request("GET", "/version").json()["version"]


def test_it_has_the_paths_of_the_sources():
    server, operations = ((ROOT / "src/server" / name).read_text() for name in ("server.cc", "operations.cc"))
    routes = {(path, "get") for path in re.findall(r'\badd\("(/[^"]*)"', operations)}
    routes |= {(path, "post") for path in re.findall(r'add_text\("([^"]*)"', server)}
    routes |= {(path, method.lower()) for method, path in re.findall(r'add_api\("([A-Z]+)", "([^"]*)"', server)}
    assert len(routes) > 10 and 'std::string(kModelsBelow) + "*"' in server
    assert routes | {("/v1/models/{model}", "get")} == {(path, method) for path, method, _ in OPERATIONS}


def test_a_key_is_needed_where_it_says_so():
    server = Server("--api-key", "secret")
    try:
        for path, method, operation in OPERATIONS:
            reply = server.request(method.upper(), path.format(model="demo"), b"{}" if method == "post" else b"")
            assert (reply.status == 401) == ("security" not in operation), path
    finally:
        assert server.stop() == 0


def properties(name: str) -> dict[str, dict]:
    """The members of a request with what each may be, those that it has from others too."""
    schema = SCHEMAS[name]
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", schema.get("anyOf", [])):
        more = properties(part["$ref"].rsplit("/", 1)[1]) if "$ref" in part else part.get("properties", {})
        for field, allowed in more.items():
            found[field] = {"anyOf": [found[field], allowed]} if field in found and "anyOf" in schema else allowed
    return found


@pytest.mark.parametrize("name, file", [("ChatRequest", "chat_request.cc"),
                                        ("CompletionRequest", "completion_request.cc")])
def test_it_has_the_fields_of_the_sources(name, file):
    sources = (ROOT / "src/api/generation_fields.cc").read_text() + (ROOT / "src/api" / file).read_text()
    tables = re.findall(r"k(?:CommonFields|OwnFields|CommonUnsupported|Unsupported) = std::to_array<.*?>\(\{(.*?)\}\);", sources, re.S)
    assert len(tables) == 4
    known = {field for table in tables for field in re.findall(r'(?:^|\n)\s*\{?"([a-z_]+)"', table)}
    assert known == set(properties(name))


MESSAGES = chat_body("Hi")
VALID = {"/v1/chat/completions": {**MESSAGES, "max_tokens": 1}, "/v1/completions": {"prompt": "Hi", "max_tokens": 1},
         "/tokenize": {"prompt": "Hi"}, "/detokenize": {"tokens": [1]}, "/apply-template": MESSAGES}


def outside(schema: dict) -> list:
    """Values that a field must not have: of other types, and beyond its bounds."""
    values = [True, 12.5, "x", [[None]], {"x": [None]}]
    values += [schema["minimum"] - 1] if "minimum" in schema else []
    values += [schema["maximum"] + 1] if "maximum" in schema else []
    values += [{str(i): 0 for i in range(schema["maxProperties"] + 1)}] if "maxProperties" in schema else []
    values += [[0] * (schema["maxItems"] + 1)] if "maxItems" in schema else []
    values += ["x" * (schema["maxLength"] + 1)] if "maxLength" in schema else []
    fits = jsonschema_rs.validator_for({**schema, "components": DOCUMENT["components"]})
    return [value for value in values if not fits.is_valid(value)]


@pytest.mark.parametrize("path", VALID)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(demo, path):
    assert demo.request("POST", path, json.dumps(VALID[path])).status == 200
    body = PATHS[path]["post"]["requestBody"]["content"]["application/json"]
    name = body["schema"]["$ref"].rsplit("/", 1)[1]
    for field, schema in properties(name).items():
        base = MESSAGES if path == "/tokenize" and field in properties("ChatPrompt") else VALID[path]
        for value in outside(schema):
            reply = demo.request("POST", path, json.dumps({**base, field: value}))
            assert reply.status == 400, (field, value)
            assert re.split(r"[.\[]", reply.json()["error"]["param"])[0] == field, (field, value, reply.json())
        if not schema.keys() - {"description"}:  # of no influence
            assert demo.request("POST", path, json.dumps({**base, field: {"x": [1]}})).status == 200, field


@pytest.mark.parametrize("path, whole, chunk", [("/v1/chat/completions", "ChatCompletion", "ChatCompletionChunk"),
                                                ("/v1/completions", "Completion", "CompletionChunk")])
def test_answers_with_all_that_they_can_have(demo, path, whole, chunk):
    logprobs = {"logprobs": True, "top_logprobs": 3} if "chat" in path else {"logprobs": 3, "echo": True}
    body = {**VALID[path], **logprobs, "n": 2, "max_tokens": 6, "temperature": 1, "seed": 4}
    reply = demo.request("POST", path, json.dumps(body))
    validator(whole).validate(reply.json())
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    *chunks, last = events(demo.request("POST", path, json.dumps(body)).body)
    assert last == "[DONE]" and chunks[-1]["usage"] == reply.json()["usage"] | {
        "prompt_tokens_details": chunks[-1]["usage"]["prompt_tokens_details"]}
    for one in chunks:
        validator(chunk).validate(one)
