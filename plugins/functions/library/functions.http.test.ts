import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { require } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ connection: {}, env: { OPENAI_API_KEYS: "k" } })));
  admin = await app.admin();
});

const first = `/**
 * title: Signer
 * author: Ana
 * description: Signs what the model says
 */
export const meta = { priority: 3, capabilities: { storage: true } };
export const valves = {
  mark: { type: "string", default: "!" },
  times: { type: "integer", default: 1, minimum: 1 },
};
export function inlet(body, { valves, user }) {
  return { ...body, messages: [...body.messages, { role: "system", content: valves.mark + user.name }],
    metadata: { ...body.metadata, seen: "in inlet" } };
}
export function stream(event, { valves }) {
  const delta = event.choices?.[0]?.delta;
  if (delta?.content === "drop") return null;
  if (delta?.content) delta.content += valves.mark.repeat(valves.times);
  return event;
}
export async function outlet(body, { metadata, host }) {
  await host.storage.set("last", [metadata.seen, body.messages.at(-1).content]);
  console.log("outlet saw", body.messages.length);
}`;
const second = `export const meta = { name: "Signer" };
export function stream(event) { return event; }`;

const call = (route: string, body?: unknown) => admin.call(route, body);
const at = (rest: string) => `/api/v1/functions/id/signer${rest}`;
const messages = [{ role: "user" as const, content: "Hi" }];
const sdk = () => new OpenAI({ baseURL: `${app.url}/api`, apiKey: admin.token, maxRetries: 0 });

async function streamed(): Promise<string> {
  upstream.reply("/chat/completions", sse([...textChunks(["a", "drop", "b"])]));
  const stream = sdk().chat.completions.stream({ model: "alpha", messages });
  return (await stream.finalChatCompletion()).choices[0]?.message.content ?? "";
}

describe("the life of a function", () => {
  it("begins as a dry run that saves nothing", async () => {
    const dry = { content: first, hook: "inlet", body: { model: "m", messages: [] }, valves: { mark: "?" } };
    const { body } = await require(call("POST /api/v1/functions/dry-run", dry));
    expect(body).toMatchObject({
      type: "filter",
      error: null,
      result: { messages: [{ role: "system", content: `?${admin.name}` }], metadata: { seen: "in inlet" } },
    });
    expect(body.time_ms).toBeGreaterThan(0);
    const chunk = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
    const chunks = { content: first, hook: "stream", body: [chunk("x"), chunk("drop")] };
    expect((await call("POST /api/v1/functions/dry-run", chunks)).body.result).toEqual([chunk("x!")]);
    expect((await call("GET /api/v1/functions/")).body).toEqual([]);
  });

  it("is created inactive, with its type and description read from the code", async () => {
    const form = { id: "Signer", name: "Signer", content: first, meta: {} };
    const { body } = await require(call("POST /api/v1/functions/create", form));
    expect(body).toMatchObject({
      id: "signer",
      type: "filter",
      is_active: false,
      is_global: false,
      error: null,
    });
    expect(body.meta).toMatchObject({
      description: "Signs what the model says",
      manifest: { title: "Signer", author: "Ana", priority: 3 },
      has_valves: true,
      has_user_valves: false,
    });
    expect((await call("POST /api/v1/functions/create", form)).status).toBe(409);
    expect(await streamed()).toBe("adropb");
  });

  it("works for nobody until it is on and global", async () => {
    expect((await require(call(`POST ${at("/toggle")}`))).body.is_active).toBe(true);
    expect(await streamed()).toBe("adropb");
    expect((await require(call(`POST ${at("/toggle/global")}`))).body.is_global).toBe(true);
    expect(await streamed()).toBe("a!b!");
  });

  it("changes requests, sees the finished conversation, and keeps console lines", async () => {
    upstream.reply("/chat/completions", text("Hello"));
    const seen = upstream.nextRequest(({ body }) => body?.seed === 1);
    await call("POST /api/chat/completions", { model: "alpha", messages, seed: 1, stream: true });
    expect((await seen).body.messages).toEqual([...messages, { role: "system", content: `!${admin.name}` }]);
    await expect
      .poll(async () => (await call(`GET ${at("/logs")}`)).body.lines.at(-1))
      .toMatchObject({ level: "info", text: "outlet saw 2" });
    const dry = {
      content: first,
      hook: "outlet",
      body: { messages: [{ content: "x" }] },
      metadata: { seen: 1 },
    };
    expect((await call("POST /api/v1/functions/dry-run", dry)).body).toMatchObject({
      result: null,
      error: null,
      log: [{ text: "outlet saw 1" }],
    });
  });

  it("takes its settings from valves at once", async () => {
    const wrong = await call(`POST ${at("/valves/update")}`, { times: 0 });
    expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringMatching(/^times: /)]);
    const saved = await require(call(`POST ${at("/valves/update")}`, { times: 2, mark: null }));
    expect(saved.body).toEqual({ times: 2 });
    expect((await call(`GET ${at("/valves")}`)).body).toEqual({ times: 2 });
    expect((await call(`GET ${at("/valves/spec")}`)).body.properties.mark.default).toBe("!");
    expect(await streamed()).toBe("a!!b!!");
  });

  it("goes back to an earlier version, and keeps who wrote what", async () => {
    await require(call(`POST ${at("/update")}`, { name: "Signer 2", content: second }));
    expect(await streamed()).toBe("adropb");
    const versions = (await require(call(`GET ${at("/versions")}`))).body;
    expect(versions).toMatchObject([
      { version: 2, is_current: true, user: { id: admin.id, name: admin.name } },
      { version: 1, is_current: false },
    ]);
    expect((await call(`GET ${at("/versions/1")}`)).body.content).toBe(first);
    const restored = await require(call(`POST ${at("/versions/1/restore")}`));
    // It declares storage, which the version before it did not.
    expect(restored.body).toMatchObject({ name: "Signer 2", content: first, is_active: false });
    await require(call(`POST ${at("/toggle")}`));
    expect(await streamed()).toBe("a!!b!!");
    expect((await call(`GET ${at("/versions")}`)).body[0]).toMatchObject({ version: 3, is_current: true });
    expect((await call(`POST ${at("/versions/9/restore")}`)).status).toBe(404);
  });

  it("leaves in an export and comes back in a sync, which takes others away", async () => {
    const plain = (await require(call("GET /api/v1/functions/export"))).body;
    expect(plain).toMatchObject([{ id: "signer", content: first }]);
    expect(plain[0]).not.toHaveProperty("valves");
    const full = (await require(call("GET /api/v1/functions/export?include_valves=true"))).body;
    expect(full[0].valves).toEqual({ times: 2 });
    const other = { id: "other", name: "Other", content: second };
    await require(call("POST /api/v1/functions/create", other));

    const broken = { ...other, content: "export function stream( {" };
    const refused = await call("POST /api/v1/functions/sync", { functions: [...full, broken] });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(/^other: .*line 1/)]);
    const changed = { ...full[0], valves: { times: 3 } };
    const synced = await require(call("POST /api/v1/functions/sync", { functions: [changed] }));
    expect(synced.body.map(({ id }: { id: string }) => id)).toEqual(["signer"]);
    expect(synced.body[0]).toMatchObject({ is_active: true, is_global: true });
    expect(await streamed()).toBe("a!!!b!!!");
  });

  it("ends", async () => {
    expect((await require(call(`DELETE ${at("/delete")}`))).body).toBe(true);
    expect(await streamed()).toBe("adropb");
    for (const route of [
      `GET ${at("")}`,
      `POST ${at("/toggle")}`,
      `GET ${at("/versions")}`,
      `GET ${at("/valves")}`,
    ]) {
      expect((await call(route)).status).toBe(404);
    }
  });
});
