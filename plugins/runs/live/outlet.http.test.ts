import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { outlets, probes } from "#plugins/completions/reply/probes.fixture.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { TestUser } from "#test/support/app.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;
let reader: TestUser;
let client: PlainClient;
const secret = "The owner's secret prompt.";

beforeAll(async () => {
  stage = await startRunStage({ plugins: [probes] });
  reader = await stage.app.user();
  const everybody = { principal_type: "user", principal_id: "*", permission: "read" };
  for (const [id, base, params] of [
    ["alpha", null, {}],
    ["shared", "alpha", { system: secret }],
  ] as const) {
    const record = { id, name: id, base_model_id: base, params, access_grants: [everybody] };
    const body = { ...record, meta: {} };
    await stage.user.call("POST /api/v1/models/create", body);
  }
  client = await connectPlain(stage.app.url, { token: reader.token });
  await client.sessionId();
});
afterAll(async () => {
  client?.close();
  await stage?.close();
});

const isOutlet = (id?: string) => (_: string, data: { message_id?: string; data?: { type?: string } }) =>
  data?.data?.type === "chat:outlet" && (id === undefined || data.message_id === id);

/** What the reader's clients are told when a run with an outlet filter is over. */
async function told(body: object, id?: string) {
  stage.upstream.reply("/chat/completions", text("Answer"));
  outlets.length = 0;
  const seen = client.events.length;
  await stage.complete({ model: "shared", filter_ids: ["keep"], ...body }, reader.token);
  await expect
    .poll(() => client.events.slice(seen).some(({ event, data }) => isOutlet(id)(event, data)))
    .toBe(true);
  const { data } = client.events.slice(seen).find(({ event, data }) => isOutlet(id)(event, data))!;
  return { data, text: JSON.stringify([client.events.slice(seen), outlets]) };
}

it("outlets and the clients of a temporary chat see what was sent, and nothing of the model's prompt (S53)", async () => {
  const id = randomUUID();
  const seen = await told({ chat_id: `temporary:${randomUUID()}`, id }, id);
  expect(seen.text).not.toContain(secret);
  expect(outlets[0]?.messages).toMatchObject([
    { role: "user", content: "Hi" },
    { id, role: "assistant", content: "Answer" },
  ]);
});

it("of an answer over HTTP they see the same, under an id that was made for the reply (Core API, rule 14)", async () => {
  for (const stream of [true, false]) {
    const { data, text: all } = await told({ stream, session_id: undefined });
    expect(all).not.toContain(secret);
    const messages = (outlets[0]?.messages ?? []) as { id: string; role: string }[];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(data).toMatchObject({ chat_id: null, message_id: messages.at(-1)?.id });
    expect(data.instance_id).toEqual(expect.any(String));
    expect(data.data.data.messages).toMatchObject([{ content: "filtered" }, { content: "filtered" }]);
  }
  const named = await told({ stream: false, chat_id: undefined, id: "m1" }, "m1");
  expect(named.data.message_id).toBe("m1");
});
