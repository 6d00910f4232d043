import { randomUUID } from "node:crypto";
import { expect, it, vi } from "vitest";
import { useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import type { App, TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { addFunction, require } from "../functions.fixture.ts";

let app: App;
let upstream: Upstream;
let admin: TestUser;

setUp(async (keep) => {
  ({ app, upstream } = await keep(useAppWithUpstream({ connection: {}, env: { OPENAI_API_KEYS: "k" } })));
  admin = await app.admin();
  await addFunction(app, "witness", witness, { global: true });
  const folder = await require(call("POST /api/v1/folders/", { name: "Letters" }));
  facts.folder_id = folder.body.id;
  about.folder_id = folder.body.id;
});

/** Writes the context of each hook to its console. */
const witness = `
  const tell = (hook, ctx) => { const { host, ...facts } = ctx; console.log(JSON.stringify({ hook, ...facts })); };
  export function inlet(body, ctx) { tell("inlet", ctx); return { ...body, metadata: { ...body.metadata, note: "left" } }; }
  let last;
  export function stream(chunk, ctx) { if (ctx !== last) { tell("stream", ctx); last = ctx; } }
  export function outlet(body, ctx) { tell("outlet", ctx); }`;

const call = (route: string, body?: unknown) => admin.call(route, body);

/** The contexts since the last call, by hook, once the outlet has had its own. */
async function told(hooks: readonly string[]) {
  const read = async () => {
    const { body } = await call("GET /api/v1/functions/id/witness/logs");
    const lines = body.lines.map(({ text }: { text: string }) => JSON.parse(text));
    return lines.slice(-hooks.length);
  };
  await vi.waitFor(async () =>
    expect((await read()).map(({ hook }: { hook: string }) => hook)).toEqual(hooks),
  );
  return await read();
}

const messages = [{ role: "user", content: "Hi" }];
const facts = {
  files: [{ type: "text", content: "f1" }],
  features: { web_search: true },
  variables: { "{{USER_NAME}}": "Ana" },
  folder_id: "",
  params: { stream_delta_chunk_size: 2 },
};
const about = {
  user_id: "",
  chat_id: "",
  message_id: null,
  files: facts.files,
  features: facts.features,
  variables: facts.variables,
  params: facts.params,
  folder_id: "",
  tool_ids: [],
  filter_ids: ["x"],
};

it("every hook of a filter knows the files, features and facts of the run (contract D.29, §3.2)", async () => {
  upstream.reply("/chat/completions", sse([...textChunks(["a"])]));
  const notes = { mine: 1, user_id: "somebody else" };
  await require(
    call("POST /api/chat/completions", {
      model: "alpha",
      messages,
      stream: true,
      filter_ids: ["x"],
      metadata: notes,
      ...facts,
    }),
  );
  const expected = { ...about, user_id: admin.id, mine: 1 };
  const [inlet, ...later] = await told(["inlet", "stream", "outlet"]);
  expect(inlet).toMatchObject({ files: facts.files, features: facts.features, metadata: expected });
  expect(inlet.metadata).not.toHaveProperty("note");
  for (const context of later) {
    expect(context).toMatchObject({
      files: facts.files,
      features: facts.features,
      metadata: { ...expected, note: "left" },
      model: { id: "alpha" },
      task: null,
      id: "witness",
    });
  }
});

it("the outlet on demand knows them as far as the request names them", async () => {
  const body = { model: "alpha", messages, id: "m1", session_id: "s1", filter_ids: ["x"], ...facts };
  await require(call("POST /api/chat/completed", body));
  const [outlet] = await told(["outlet"]);
  expect(outlet).toMatchObject({
    files: facts.files,
    features: facts.features,
    message_id: "m1",
    metadata: { ...about, user_id: admin.id, message_id: "m1", session_id: "s1" },
  });
});

it("a chat-bound run names its chat, the reply and the question", async () => {
  const [chatId, id, question] = [`temporary:${randomUUID()}`, randomUUID(), randomUUID()];
  upstream.reply("/chat/completions", sse([...textChunks(["a"])]));
  const user_message = { id: question, role: "user", content: "Hi" };
  const body = { model: "alpha", messages, stream: true, chat_id: chatId, id, user_message, ...facts };
  await require(call("POST /api/chat/completions", body));
  for (const context of await told(["inlet", "stream", "outlet"])) {
    expect(context).toMatchObject({
      chat_id: chatId,
      message_id: id,
      files: facts.files,
      metadata: { chat_id: chatId, message_id: id, user_message_id: question, user_message },
    });
  }
});

it("a pipe knows the model that the caller named, and what the request says", async () => {
  const pipe = `export function pipe(body, { host, ...facts }) { return JSON.stringify({ facts, keys: Object.keys(body) }); }`;
  await addFunction(app, "mirror", pipe);
  const record = { id: "over", name: "Over", base_model_id: "mirror", meta: { description: "A record" } };
  await require(call("POST /api/v1/models/create", record));
  const asked = { messages, metadata: { mine: 1 }, ...facts };
  const answer = await require(call("POST /api/chat/completions", { model: "over", ...asked }));
  const { facts: seen, keys } = JSON.parse(answer.body.choices[0].message.content);
  expect(seen).toMatchObject({
    model: { id: "over", meta: { description: "A record" } },
    files: facts.files,
    features: facts.features,
    metadata: { ...about, filter_ids: [], user_id: admin.id, mine: 1, note: "left" },
    id: "mirror",
  });
  expect(keys).toEqual(["model", "messages"]);
});
