import type { Answer, App } from "#test/support/app.ts";

/** Creates a function, and switches it on (and for all models) when asked to. Fails loudly. */
export async function addFunction(
  app: App,
  id: string,
  content: string,
  { active = true, global = false, meta = {} }: { active?: boolean; global?: boolean; meta?: object } = {},
): Promise<void> {
  const { token } = await app.admin();
  const body = { id, name: id, content, meta };
  await require(app.call("POST /api/v1/functions/create", { token, body }));
  if (active) {
    await require(app.call(`POST /api/v1/functions/id/${id}/toggle`, { token }));
  }
  if (global) {
    await require(app.call(`POST /api/v1/functions/id/${id}/toggle/global`, { token }));
  }
}

export async function removeFunction(app: App, id: string): Promise<void> {
  const { token } = await app.admin();
  await require(app.call(`DELETE /api/v1/functions/id/${id}/delete`, { token }));
}

/** The answer when it is 200, an error with its text otherwise. */
export async function require(call: Promise<Answer>): Promise<Answer> {
  const answer = await call;
  if (answer.status !== 200) {
    throw new Error(`${answer.status}: ${answer.text}`);
  }
  return answer;
}

/** The texts of a stream's deltas. */
export function toTexts(stream: string): string[] {
  return toFrames(stream).flatMap(({ choices }) => choices?.[0]?.delta?.content ?? []);
}

// Frames are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export function toFrames(stream: string): any[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: ") && !line.includes("[DONE]"))
    .map((line) => JSON.parse(line.slice(6)));
}
