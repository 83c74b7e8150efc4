"""The demo's corpus: conversations made by grammars, without end, from a seed.

train.py draws from Corpus.example(). An Example is a prompt in chat form (messages, tools, thinking
on or off) and the raw text that the model is to write after it, up to and without <|im_end|>.
"""

import dataclasses
import random

import answers
from turns import Turn, Turns
from weather import Weather


@dataclasses.dataclass
class Example:
    skill: str
    messages: list[dict]
    tools: list[dict] | None
    thinking: bool
    completion: str


@dataclasses.dataclass
class Conversation:
    messages: list[dict]
    turn: Turn
    tools: list[dict] | None = None


def bare(text: str) -> str:
    """A user's text without what vary() changes at its end."""
    return text.lower().strip(" ?.!。？！\n~")


def append(messages: list[dict], turn: Turn) -> None:
    messages += [{"role": "user", "content": turn.user}, {"role": "assistant", "content": turn.answer}]


class Corpus:
    def __init__(self, seed: int, forbidden: frozenset[str] = frozenset()):
        """`forbidden` holds bare() user texts which are kept for the evaluation."""
        self.rng = random.Random(seed)
        self.forbidden = forbidden
        self.turns = Turns(self.rng)
        self.weather = Weather(self.turns)

    def history(self, turns: int, name: str | None = None) -> tuple[list[dict], str | None]:
        """Earlier turns, and the name by which the user is known after them."""
        messages: list[dict] = []
        for _ in range(turns):
            if self.turns.chance(0.12):
                turn, name = self.turns.tell_name()
            elif self.turns.chance(0.05):
                turn = self.turns.recall_name(name)
            else:
                turn = self.turns.single()
            append(messages, turn)
        return messages, name

    def system_prompt(self) -> str:
        rng, kind = self.rng, self.rng.random()
        if kind < 0.55:
            return rng.choice(answers.SYSTEM)
        if kind < 0.7:
            return " ".join(rng.choices(answers.SYSTEM, k=rng.randint(2, 5)))
        if kind < 0.85:
            language = self.turns.language()
            forms = ["You are {}.", "You know all about {}.", "Talk about {}."], ["你是{}。", "你只谈{}。"]
            return self.turns.choose(language, *forms).format(self.turns.topic(language))
        return self.turns.noise()[0]

    def recall(self, before: list[dict]) -> Conversation:
        """A name is told, other things may follow, and the name is asked for."""
        told, name = self.turns.tell_name()
        if self.turns.chance(0.1):  # all in one message
            turn = self.turns.recall_name(name)
            turn.user = told.user + " " + turn.user
            return Conversation(before, turn)
        append(before, told)
        if self.turns.chance(0.55):
            later, name = self.history(self.rng.randint(1, 4), name)
            before += later
        return Conversation(before, self.turns.recall_name(name))

    def conversation(self) -> Conversation:
        rng, chance = self.rng, self.turns.chance
        before, name = self.history(rng.choices([0, 1, 2, 3, 5], [52, 25, 14, 6, 3])[0])
        kinds = {
            "single": 70,
            "tell": 6,
            "recall": 10,
            "no_name": 3,
            "call": 10,
            "result": 5,
            "no_tool": 3,
        }
        kind = rng.choices(list(kinds), list(kinds.values()))[0]
        if kind in ("call", "result"):
            before = before[: rng.choice([0, 2])]
        match kind:
            case "single":
                tools = None
                if chance(0.05):
                    tools = (
                        self.weather.tools()[0]
                        if chance(0.6)
                        else self.weather.other_tools(rng.randint(1, 2))
                    )
                return Conversation(before, self.turns.single(), tools)
            case "tell":
                return Conversation(before, self.turns.tell_name()[0])
            case "recall":
                return self.recall(before)
            case "no_name":
                return Conversation(before, self.turns.recall_name(name))
            case "no_tool":
                return Conversation(
                    before, self.weather.ask()[0], self.weather.other_tools(1) if chance(0.25) else None
                )
            case "call":
                tools, turn = self.weather.call()
                return Conversation(before, self.weather.ask_nowhere() if chance(0.06) else turn, tools)
            case _:
                tools, asked, turn = self.weather.answered()
                return Conversation(before + asked, turn, tools)

    def example(self) -> Example:
        while True:
            conversation = self.conversation()
            if bare(conversation.turn.user) not in self.forbidden:
                break
        messages, turn = conversation.messages, conversation.turn
        # A sum without working is the hardest thing to learn, and gets the more practice.
        thinking, thought = self.turns.chance(0.35 if turn.skill == "sum" else 0.5), turn.thought
        if turn.user:
            switch, user = self.rng.random(), turn.user
            if switch < 0.05:
                user += self.rng.choice([" /no_think", "/no_think", "\n/no_think"])
                thought = ""
            elif switch < 0.08:
                user += self.rng.choice([" /think", "/think"])
            messages = messages + [{"role": "user", "content": user}]
        if self.turns.chance(0.3):
            messages = [{"role": "system", "content": self.system_prompt()}] + messages
        completion = (f"<think>\n{thought}\n</think>\n\n" if thinking else "") + turn.answer
        return Example(turn.skill, messages, conversation.tools, thinking, completion)
