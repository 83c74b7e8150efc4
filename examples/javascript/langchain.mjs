// ChatOpenAI of LangChain: several prompts at once, which the server answers side by side, then a stream.
//
//     npm install --no-save @langchain/openai @langchain/core
//     node examples/javascript/langchain.mjs
import { ChatOpenAI } from "@langchain/openai";

const PROMPTS = ["讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"];

const chatModel = new ChatOpenAI({
  model: "Qwen-0.6B",
  temperature: 0.5,
  apiKey: "EMPTY",
  maxTokens: 128,
  timeout: 30_000,
  configuration: { baseURL: process.env.QWICK_URL ?? "http://127.0.0.1:8000/v1" },
  modelKwargs: { use_cache: true, enable_thinking: false, top_k: 50, repetition_penalty: 1.1 },
});
const answers = await chatModel.batch(PROMPTS);
answers.forEach((answer, i) => console.log(`${PROMPTS[i]}\n  ${answer.content}`));

// stream(), not `streaming: true` with invoke(): to count tokens, that fetches OpenAI's vocabulary from the network.
for await (const chunk of await chatModel.stream("请描述春天的景象")) process.stdout.write(chunk.content);
console.log();
