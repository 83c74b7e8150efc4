#!/usr/bin/env python3
"""The least of an OpenAI server that a benchmark needs, over an engine that has none of its own.

    openai_server.py --engine openvino|onnxruntime|transformers --model DIR --port PORT [--option NAME=VALUE ...]

POST /v1/completions (a text or a list of token ids) and /v1/chat/completions, streaming or not, each token its own
event; GET /health and /v1/models. Runs in the engine's own virtual environment; bench/peers/engines.py starts it,
bench/peers/backends.py has the engines. It listens once the model is there.
"""
import argparse
import json
import pathlib
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from backends import BACKENDS, Request
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class Text:
    """The model's tokenizer and chat template, without loading transformers for it."""

    def __init__(self, folder: pathlib.Path):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        config = json.loads((folder / "tokenizer_config.json").read_text())
        file = folder / "chat_template.jinja"
        source = file.read_text() if file.exists() else config["chat_template"]
        self.template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(source)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def prompt(self, body: dict) -> list[int]:
        """Token ids of what a request asks to continue."""
        if "messages" in body:
            arguments = body.get("chat_template_kwargs", {})
            if "enable_thinking" in body:
                arguments["enable_thinking"] = body["enable_thinking"]
            return self.encode(self.template.render(messages=body["messages"], add_generation_prompt=True, **arguments))
        prompt = body["prompt"]
        if isinstance(prompt, str):
            return self.encode(prompt)
        if len(prompt) == 1 and not isinstance(prompt[0], int):  # a list of one prompt
            return self.prompt({"prompt": prompt[0]})
        if all(isinstance(i, int) for i in prompt):
            return prompt
        raise ValueError("one prompt a request, please")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    backend = text = model_name = None  # set by main

    def do_GET(self):
        self.reply({"status": "ok", "data": [{"id": self.model_name, "object": "model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            n_tokens = next((body[name] for name in ("max_completion_tokens", "max_tokens") if body.get(name)), 64)
            ignore_eos = bool(body.get("ignore_eos")) or body.get("min_tokens", 0) >= n_tokens
            request = Request(self.text.prompt(body), n_tokens, ignore_eos, body.get("temperature", 1.0))
        except (KeyError, ValueError) as error:
            self.reply({"error": {"message": f"{type(error).__name__}: {error}"}}, 400)
            return
        answer = Answer(self, body)
        n_answered = self.backend.generate(request, answer.token)
        answer.end("length" if n_answered == n_tokens else "stop",
                   {"prompt_tokens": len(request.prompt), "completion_tokens": n_answered,
                    "total_tokens": len(request.prompt) + n_answered})

    def reply(self, body: dict, status: int = 200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Answer:
    """What one request is answered: events as the tokens come, or everything at the end."""

    def __init__(self, handler: Handler, body: dict):
        self.handler = handler
        self.is_chat = "messages" in body
        self.is_stream = body.get("stream", False)
        self.has_usage = (body.get("stream_options") or {}).get("include_usage", False)
        self.decoder = DecodeStream(skip_special_tokens=True)
        self.texts = []
        kind = "chat.completion" if self.is_chat else "text_completion"
        self.head = {"id": uuid.uuid4().hex, "created": int(time.time()), "model": handler.model_name,
                     "object": kind + (".chunk" if self.is_chat and self.is_stream else "")}
        if self.is_stream:
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()

    def token(self, token: int):
        """A token that ends inside a character is an event too, with no text yet."""
        text = self.decoder.step(self.handler.text.tokenizer, token) or ""
        if self.is_stream:
            self.event({**self.head, "choices": [self.choice(text, "delta", None)]})
        else:
            self.texts.append(text)

    def end(self, reason: str, usage: dict):
        if not self.is_stream:
            choice = self.choice("".join(self.texts), "message", reason)
            self.handler.reply({**self.head, "choices": [choice], "usage": usage})
            return
        self.event({**self.head, "choices": [self.choice("", "delta", reason)]})
        if self.has_usage:
            self.event({**self.head, "choices": [], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")

    def choice(self, text: str, field: str, reason: str | None) -> dict:
        said = {field: {"role": "assistant", "content": text}} if self.is_chat else {"text": text}
        return {"index": 0, **said, "finish_reason": reason}

    def event(self, body: dict):
        self.chunk(b"data: " + json.dumps(body).encode() + b"\n\n")

    def chunk(self, data: bytes):
        self.handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True, choices=BACKENDS)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, help="directory of tokenizer.json; default: the model's")
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="the engine's own")
    arguments = parser.parse_args()
    options = dict(option.split("=", 1) for option in arguments.option)
    Handler.text = Text(arguments.tokenizer or arguments.model)
    Handler.backend = BACKENDS[arguments.engine](arguments.model, arguments.threads, **options)
    Handler.model_name = arguments.model.name
    Server(("127.0.0.1", arguments.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
