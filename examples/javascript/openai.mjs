// The openai package: an answer as it is written.
//
//     npm install --no-save openai
//     node examples/javascript/openai.mjs "What is 12 + 30?"
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.QWICK_URL ?? "http://127.0.0.1:8000/v1", apiKey: "EMPTY" });
const stream = await client.chat.completions.create({
  model: "Qwen-0.6B",
  messages: [{ role: "user", content: process.argv[2] ?? "请描述春天的景象" }],
  max_completion_tokens: 256,
  stream: true,
  stream_options: { include_usage: true },
  enable_thinking: false, // what OpenAI's own API doesn't have goes along as it is
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
  if (chunk.usage) console.log(`\n(${chunk.usage.prompt_tokens} + ${chunk.usage.completion_tokens} tokens)`);
}
