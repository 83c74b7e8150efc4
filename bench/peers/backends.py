"""The peers that are libraries, each behind one method: generate(request, on_token) -> tokens generated.

openai_server.py calls generate from a thread per request. An engine that batches lets them run together; the others
take one at a time, as a program that uses them would.
"""
import dataclasses
import itertools
import pathlib
import queue
import threading
from collections.abc import Callable


@dataclasses.dataclass
class Request:
    prompt: list[int]
    n_tokens: int
    ignore_eos: bool
    temperature: float


class OpenVino:
    """OpenVINO GenAI's ContinuousBatchingPipeline: paged cache, continuous batching, prefix cache."""

    def __init__(self, model: pathlib.Path, threads: int, cache_gb: str = "1", max_num_seqs: str = "16",
                 max_num_batched_tokens: str = "256", kv_cache_precision: str = "u8"):
        import openvino
        import openvino_genai

        self.openvino, self.genai = openvino, openvino_genai
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.cache_size = int(cache_gb)
        scheduler.max_num_seqs = int(max_num_seqs)
        scheduler.max_num_batched_tokens = int(max_num_batched_tokens)
        scheduler.enable_prefix_caching = True
        properties = {"INFERENCE_NUM_THREADS": threads, "KV_CACHE_PRECISION": kv_cache_precision,
                      "PERFORMANCE_HINT": "LATENCY"}
        self.pipeline = openvino_genai.ContinuousBatchingPipeline(str(model), scheduler, "CPU", properties)
        self.arrived = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def generate(self, request: Request, on_token: Callable[[int], None]) -> int:
        tokens = queue.Queue()
        self.arrived.put((request, tokens))
        for n in itertools.count():
            token = tokens.get()
            if token is None:
                return n
            on_token(token)

    def work(self):
        """The one thread that steps: takes in what has arrived, and hands out what each step gave."""
        ids = itertools.count()
        open_requests = []
        while True:
            while not open_requests or not self.arrived.empty():
                request, tokens = self.arrived.get()
                config = self.genai.GenerationConfig(
                    max_new_tokens=request.n_tokens, ignore_eos=request.ignore_eos,
                    do_sample=request.temperature > 0, temperature=request.temperature or 1.0)
                prompt = self.openvino.Tensor([request.prompt])
                open_requests.append((self.pipeline.add_request(next(ids), prompt, config), tokens))
            self.pipeline.step()
            still_open = []
            for handle, tokens in open_requests:
                while handle.can_read():
                    for output in handle.read().values():
                        for token in output.generated_ids:
                            tokens.put(token)
                if handle.get_status() == self.genai.GenerationStatus.RUNNING:
                    still_open.append((handle, tokens))
                else:
                    tokens.put(None)
            open_requests = still_open


class OnnxRuntime:
    """ONNX Runtime GenAI's generator, one request at a time."""

    def __init__(self, model: pathlib.Path, threads: int):
        import onnxruntime_genai

        self.genai = onnxruntime_genai
        config = onnxruntime_genai.Config(str(model))
        config.overlay(f'{{"model": {{"decoder": {{"session_options": {{"intra_op_num_threads": {threads}}}}}}}}}')
        self.model = onnxruntime_genai.Model(config)
        self.lock = threading.Lock()

    def generate(self, request: Request, on_token: Callable[[int], None]) -> int:
        length = len(request.prompt) + request.n_tokens
        params = self.genai.GeneratorParams(self.model)
        params.set_search_options(max_length=length, min_length=length if request.ignore_eos else 0,
                                  do_sample=request.temperature > 0, temperature=request.temperature or 1.0)
        with self.lock:
            generator = self.genai.Generator(self.model, params)
            generator.append_tokens(request.prompt)
            n = 0
            while not generator.is_done():
                generator.generate_next_token()
                on_token(int(generator.get_next_tokens()[0]))
                n += 1
        return n


class Transformers:
    """model.generate of Hugging Face transformers, one request at a time."""

    def __init__(self, model: pathlib.Path, threads: int, dtype: str = "bfloat16"):
        import torch
        import transformers

        torch.set_num_threads(threads)
        self.torch = torch
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).eval()
        self.eos = self.model.generation_config.eos_token_id
        self.lock = threading.Lock()

    def generate(self, request: Request, on_token: Callable[[int], None]) -> int:
        streamer = Streamer(on_token)
        prompt = self.torch.tensor([request.prompt])
        with self.lock, self.torch.inference_mode():
            self.model.generation_config.eos_token_id = None if request.ignore_eos else self.eos
            sampling = {"do_sample": True, "temperature": request.temperature} if request.temperature > 0 else {
                "do_sample": False, "temperature": None, "top_k": None, "top_p": None}
            self.model.generate(prompt, attention_mask=self.torch.ones_like(prompt), streamer=streamer,
                                max_new_tokens=request.n_tokens, **sampling)
        return streamer.n_tokens


class Streamer:
    """What transformers calls with the prompt first, then with each token."""

    def __init__(self, on_token: Callable[[int], None]):
        self.on_token = on_token
        self.n_tokens = -1

    def put(self, tokens):
        self.n_tokens += 1
        if self.n_tokens > 0:
            self.on_token(int(tokens[0]))

    def end(self):
        pass


BACKENDS = {"openvino": OpenVino, "onnxruntime": OnnxRuntime, "transformers": Transformers}
