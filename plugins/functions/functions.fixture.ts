import type { Answer, App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Upstream, useUpstream } from "#test/support/upstream.ts";

/** The platform with one model, `alpha`, of a scriptable upstream. */
export async function startWithUpstream() {
  const upstream: Upstream = await useUpstream();
  upstream.models = ["alpha"];
  const app = await useApp({ env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "k" } });
  const close = async () => {
    await app.close();
    await upstream.close();
  };
  return { app, upstream, admin: await app.admin(), close };
}

/** Creates a function, and switches it on (and for all models) when asked to. Fails loudly. */
export async function addFunction(
  app: App,
  id: string,
  content: string,
  { active = true, global = false, meta = {} }: { active?: boolean; global?: boolean; meta?: object } = {},
): Promise<void> {
  const admin = await app.admin();
  const body = { id, name: id, content, meta };
  await require(admin.call("POST /api/v1/functions/create", body));
  if (active) {
    await require(admin.call(`POST /api/v1/functions/id/${id}/toggle`));
  }
  if (global) {
    await require(admin.call(`POST /api/v1/functions/id/${id}/toggle/global`));
  }
}

export async function removeFunction(app: App, id: string): Promise<void> {
  const admin = await app.admin();
  await require(admin.call(`DELETE /api/v1/functions/id/${id}/delete`));
}

/** An action that runs `code` with host, body and ctx, and answers what it returns or the error's message. */
export async function addHostAction(
  app: App,
  { id, code, capabilities }: { id: string; code: string; capabilities: object },
): Promise<void> {
  const content = `export const meta = { capabilities: ${JSON.stringify(capabilities)} };
    export async function action(body, ctx) {
      const { host } = ctx;
      try { ${code} } catch (error) { return { refused: error.message }; }
    }`;
  await addFunction(app, id, content, { global: true });
}

/** The answer of the action for this person. */
export async function runAction(app: App, { id, user, body }: { id: string; user: TestUser; body: object }) {
  const sent = { model: "guide", messages: [], ...body };
  return (await require(user.call(`POST /api/chat/actions/${id}`, sent))).body;
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
