import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { connectPlain, type PlainClient } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

let stage: RunStage;
let client: PlainClient;
/** What the person's client was asked, and what it answers. */
// oxlint-disable-next-line typescript/no-explicit-any -- payloads are of every shape
let asked: any[] = [];
let answer: unknown;

beforeAll(async () => {
  stage = await startRunStage();
  client = await connectPlain(stage.app.url, {
    token: stage.user.token,
    answer: async (payload) => {
      asked.push(payload);
      return answer;
    },
  });
});
afterAll(async () => {
  client?.close();
  await stage?.close();
});
beforeEach(() => void (asked = []));

const completions = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const own = {
  url: "http://127.0.0.1:1",
  key: "sk-own-key",
  info: { title: "Weather at home" },
  specs: [{ name: "forecast", description: "Tells the weather", parameters }],
};

async function run(servers: unknown) {
  const call = { id: "c1", name: "forecast", arguments: '{"city":"Ulm"}' };
  stage.upstream.reply(completions, sse(toolCallChunks([call])));
  stage.upstream.reply(completions, text("Done."));
  const before = stage.upstream.requests.length;
  const { chatId, replyId } = await stage.makeChat();
  const body = { chat_id: chatId, id: replyId, session_id: await client.sessionId(), tool_servers: servers };
  expect((await stage.complete(body)).status).toBe(200);
  await stage.ended(chatId);
  const [first, second] = stage.upstream.requests.slice(before).filter(completions);
  const names = (first!.body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);
  const result = second?.body.messages.find(({ role }: { role: string }) => role === "tool")?.content;
  return { names, result, reply: await stage.message(chatId, replyId), sent: first!.body };
}

it("a person's own server is called by the person's client, and no key of it goes round", async () => {
  answer = { sky: "clear" };
  const { names, result, sent } = await run([own]);
  expect(names).toContain("forecast");
  expect(result).toBe('{"sky":"clear"}');
  expect(sent.tool_servers).toBeUndefined();
  expect(asked).toHaveLength(1);
  const { data, chat_id } = asked[0];
  expect([data.type, typeof chat_id]).toEqual(["execute:tool", "string"]);
  expect(data.data).toEqual({
    id: "c1",
    name: "forecast",
    params: { city: "Ulm" },
    server: { url: own.url, info: own.info },
    session_id: await client.sessionId(),
  });
});

it("its errors reach the model, its pages are shown", async () => {
  answer = { error: "The barometer is broken." };
  expect((await run([own])).result).toBe("Error: The barometer is broken.");
  answer = ["<h1>Sun</h1>", { "Content-Type": "text/html", "Content-Disposition": "inline" }];
  expect((await run([own])).reply.embeds).toEqual(["<h1>Sun</h1>"]);
});

it.each([
  ["no list", "all"],
  ["no functions", [{ url: "http://127.0.0.1:1" }]],
  ["a name that models cannot call", [{ ...own, specs: [{ name: "a b/c", description: "", parameters }] }]],
])("a request with %s offers none of it, and goes on", async (_name, servers) => {
  const { names, reply } = await run(servers);
  expect(names).not.toContain("forecast");
  expect([asked, reply.done]).toEqual([[], true]);
});

it("a member without the permission has no tools of own servers", async () => {
  const member = await stage.app.user();
  const before = stage.upstream.requests.length;
  const grants = [{ principal_type: "user", principal_id: "*", permission: "read" }];
  const model = {
    id: "alpha",
    base_model_id: null,
    name: "Alpha",
    meta: {},
    params: {},
    access_grants: grants,
    is_active: true,
  };
  await stage.user.call("POST /api/v1/models/create", model);
  stage.upstream.reply(completions, text("Hi."));
  await stage.complete({ tool_servers: [own], stream: false }, member.token);
  const sent = stage.upstream.requests.slice(before).find(completions);
  expect(sent).toBeDefined();
  expect(sent?.body.tools ?? []).toEqual([]);
});
