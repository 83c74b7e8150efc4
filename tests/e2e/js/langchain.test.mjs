// ChatOpenAI of LangChain for JavaScript.
import assert from "node:assert/strict";
import { test } from "node:test";

import { HumanMessage } from "@langchain/core/messages";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { ChatOpenAI } from "@langchain/openai";

function chatModel(settings = {}) {
  return new ChatOpenAI({
    model: "Qwen-0.6B", temperature: 0, apiKey: "EMPTY", timeout: 30_000, maxRetries: 0,
    configuration: { baseURL: process.env.QWICK_URL }, modelKwargs: { enable_thinking: false, use_cache: true }, ...settings,
  });
}

test("invoke", async () => {
  const message = await chatModel().invoke("What is 12 + 30?");
  assert.match(message.content, /42/);
  assert.equal(message.response_metadata.finish_reason, "stop");
  const usage = message.usage_metadata;
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
  assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
});

test("stream and its usage", async () => {
  let whole;
  for await (const chunk of await chatModel().stream("What is 12 + 30?")) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
  }
  const message = await chatModel().invoke("What is 12 + 30?");
  assert.equal(whole.content, message.content);
  assert.equal(whole.usage_metadata.total_tokens, message.usage_metadata.total_tokens);
});

// Not `streaming: true` with invoke(): to count tokens, that fetches OpenAI's vocabulary from the network.
test("stream of a chain", async () => {
  const chain = chatModel().pipe(new StringOutputParser());
  const pieces = [];
  for await (const piece of await chain.stream("你好")) pieces.push(piece);
  assert.equal(pieces.join(""), await chain.invoke("你好"));
});

test("batch", async () => {
  const prompts = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"];
  const answers = await chatModel().batch(prompts.map((prompt) => [new HumanMessage(prompt)]));
  const alone = [];
  for (const prompt of prompts) alone.push((await chatModel().invoke(prompt)).content);
  assert.deepEqual(answers.map((answer) => answer.content), alone);
});

test("chain and conversation", async () => {
  const chain = ChatPromptTemplate.fromMessages([["user", "What is {a} + {b}?"]]).pipe(chatModel());
  assert.match((await chain.invoke({ a: 12, b: 30 })).content, /42/);
  const history = [new HumanMessage("My name is Bob.")];
  history.push(await chatModel().invoke(history), new HumanMessage("What is my name?"));
  assert.match((await chatModel().invoke(history)).content, /Bob/);
});

test("log-probabilities, several answers, stop", async () => {
  const message = await chatModel({ logprobs: true, topLogprobs: 2 }).invoke("What is 12 + 30?");
  const { content } = message.response_metadata.logprobs;
  assert.equal(content.map((token) => token.token).join(""), message.content);
  for (const token of content) {
    assert.ok(token.logprob <= 0);
    assert.equal(token.top_logprobs[0].token, token.token);
  }
  const { generations: [answers] } = await chatModel({ n: 2 }).generate([[new HumanMessage("What is 12 + 30?")]]);
  assert.deepEqual(answers.map((answer) => answer.text), [message.content, message.content]);
  assert.doesNotMatch((await chatModel().invoke("What is 12 + 30?", { stop: ["="] })).content, /=/);
});

test("errors", async () => {
  await assert.rejects(chatModel({ model: "gpt-4o" }).invoke("Hello!"), (error) => error.status === 404);
  await assert.rejects(chatModel({ temperature: 7 }).invoke("Hello!"), (error) => error.status === 400);
});
