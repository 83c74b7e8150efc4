"""Real models give sensible answers, in English and Chinese."""
import concurrent.futures

from server import events

GREEDY = {"temperature": 0, "repetition_penalty": 1.0}


def ask(server, content: str, **fields) -> str:
    reply = server.chat(content, **{**GREEDY, **fields})
    assert reply.status == 200, reply
    return reply.json()["choices"][0]["message"]["content"]


def ask_streamed(server, content: str, **fields) -> str:
    chunks = events(server.chat(content, stream=True, **{**GREEDY, **fields}).body)
    return "".join(choice["delta"].get("content", "") for chunk in chunks[:-1] for choice in chunk["choices"])


def test_smollm_in_english(smollm):
    question = "What is the capital of France?"
    answer = ask(smollm, question, max_tokens=24)
    assert "Paris" in answer
    assert ask_streamed(smollm, question, max_tokens=24) == answer


def test_coder_in_english(coder):
    assert "Paris" in ask(coder, "What is the capital of France?", max_tokens=24)
    code = ask(coder, "Write a Python function that adds two numbers. Only code.", max_tokens=48)
    assert "def " in code and "return" in code


def test_coder_in_chinese(coder):
    question = "中国的首都是哪里？"
    answer = ask(coder, question, max_tokens=24)
    assert "北京" in answer
    assert ask_streamed(coder, question, max_tokens=24) == answer


def test_side_by_side_equals_alone(smollm):
    questions = ["What is the capital of France?", "Name a colour.", "Who wrote Hamlet?", "What is water made of?"]
    alone = [ask(smollm, question, max_tokens=12) for question in questions]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda question: ask(smollm, question, max_tokens=12), questions)) == alone
