// The openai package for JavaScript.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.QWICK_URL, apiKey: "EMPTY", maxRetries: 0, timeout: 60_000 });
const QUESTION = {
  model: "Qwen-0.6B", temperature: 0, enable_thinking: false, messages: [{ role: "user", content: "What is 12 + 30?" }],
};

test("whole answer", async () => {
  const completion = await client.chat.completions.create(QUESTION);
  assert.match(completion.choices[0].message.content, /42/);
  assert.equal(completion.choices[0].finish_reason, "stop");
  assert.equal(completion.usage.total_tokens, completion.usage.prompt_tokens + completion.usage.completion_tokens);
});

test("stream", async () => {
  const stream = await client.chat.completions.create({ ...QUESTION, stream: true, stream_options: { include_usage: true } });
  let text = "", usage;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  const whole = await client.chat.completions.create(QUESTION);
  assert.equal(text, whole.choices[0].message.content);
  assert.deepEqual(usage, whole.usage);
});

test("stream helper", async () => {
  const pieces = [];
  const stream = client.chat.completions.stream(QUESTION).on("content", (piece) => pieces.push(piece));
  const completion = await stream.finalChatCompletion();
  assert.equal(pieces.join(""), completion.choices[0].message.content);
  assert.match(pieces.join(""), /42/);
});

test("reasoning", async () => {
  const stream = await client.chat.completions.create({ ...QUESTION, enable_thinking: true, stream: true });
  let reasoning = "", text = "";
  for await (const { choices: [{ delta }] } of stream) {
    reasoning += delta.reasoning_content ?? "";
    text += delta.content ?? "";
  }
  assert.ok(reasoning.length > 0);
  assert.match(text, /42/);
});

test("stream that is left early", async () => {
  const stream = await client.chat.completions.create({ ...QUESTION, stream: true });
  for await (const _ of stream) break;
  assert.ok(stream.controller.signal.aborted);
  assert.match((await client.chat.completions.create(QUESTION)).choices[0].message.content, /42/);
});

test("several at once", async () => {
  const asked = [1, 2, 3, 4, 5, 6, 7, 8].map(() => client.chat.completions.create(QUESTION));
  const texts = (await Promise.all(asked)).map((completion) => completion.choices[0].message.content);
  assert.equal(new Set(texts).size, 1);
});

test("text completions and log-probabilities", async () => {
  const { choices: [choice] } = await client.completions.create({
    model: "Qwen-0.6B", prompt: "Hello", echo: true, logprobs: 2, max_tokens: 3, temperature: 0 });
  assert.ok(choice.text.startsWith("Hello"));
  assert.equal(choice.logprobs.tokens.join(""), choice.text);
  const [first, ...others] = choice.logprobs.token_logprobs;
  assert.equal(first, null);
  assert.ok(others.length > 0 && others.every((logprob) => logprob <= 0));
});

test("models", async () => {
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  assert.ok(ids.includes("Qwen-0.6B"));
  assert.equal((await client.models.retrieve("Qwen-0.6B")).id, "Qwen-0.6B");
});

test("errors", async () => {
  await assert.rejects(client.chat.completions.create({ ...QUESTION, temperature: 7 }),
    (error) => error instanceof OpenAI.BadRequestError && error.status === 400 && error.param === "temperature");
  await assert.rejects(client.chat.completions.create({ ...QUESTION, model: "gpt-4o" }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
  await assert.rejects(client.models.retrieve("gpt-4o"), OpenAI.NotFoundError);
  await assert.rejects(client.chat.completions.create({ ...QUESTION, stream: true, messages: [] }), OpenAI.BadRequestError);
  const long = { ...QUESTION, max_tokens: 2000, ignore_eos: true };
  await assert.rejects(client.chat.completions.create(long, { timeout: 10 }), OpenAI.APIConnectionTimeoutError);
});
