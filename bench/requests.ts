import type { Model } from "./mock.ts";

/** Makes the body of the request that has a model answer. */
export type ToBody = (model: Model) => unknown;

const system = "You answer in short and plain sentences. ".repeat(12);
const question = "What does a mill race do, and why is it built? ".repeat(26);

/** A request of the common format. */
export const toCompletion: ToBody = (model) => ({
  model,
  stream: isStreamed(model),
  temperature: 0.7,
  messages: [
    { role: "system", content: system },
    { role: "user", content: question },
  ],
  ...(isStreamed(model) && { stream_options: { include_usage: true } }),
});

/** The same request in the vendor's message format; `prefix` stands before the model's id. */
export function toMessage(prefix = ""): ToBody {
  return (model) => ({
    model: prefix + model,
    max_tokens: 1024,
    stream: isStreamed(model),
    temperature: 0.7,
    system,
    messages: [{ role: "user", content: question }],
  });
}

function isStreamed(model: Model): boolean {
  return model !== "json";
}
