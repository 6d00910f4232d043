import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { type AppWithUpstream, useAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { text } from "#test/support/upstream-scripts.ts";

let stage: AppWithUpstream;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  stage = await useAppWithUpstream();
  app = stage.app;
  admin = await app.admin();
});
afterAll(() => stage.close());

const large = "9223372036854775807";

/** The bytes that the upstream gets of a request. */
async function sent(route: string, body: string): Promise<string> {
  const next = stage.upstream.nextRequest("/chat/completions");
  stage.upstream.reply("/chat/completions", text("Hi"));
  const answer = await admin.call(`POST ${route}`, body);
  expect(answer.status, answer.text).toBe(200);
  return String((await next).bytes);
}

it("integers beyond 2^53 in schemas and calls of vendor messages keep their digits", async () => {
  const tool = `{"name":"f","input_schema":{"type":"object","properties":{"id":{"maximum":${large}}}}}`;
  const use = `{"type":"tool_use","id":"a","name":"f","input":{"id":${large},"share":1.0}}`;
  const result = '{"type":"tool_result","tool_use_id":"a","content":"1"}';
  const messages = `[{"role":"assistant","content":[${use}]},{"role":"user","content":[${result}]}]`;
  const body = `{"model":"alpha","max_tokens":9,"messages":${messages},"tools":[${tool}]}`;
  const bytes = await sent("/api/message", body);
  expect(bytes).toContain(`"maximum":${large}`);
  expect(bytes).toContain(`"arguments":"{\\"id\\":${large},\\"share\\":1.0}"`);
});

it("integers beyond 2^53 in schemas of Responses requests keep their digits", async () => {
  const tool = `{"type":"function","name":"f","parameters":{"properties":{"id":{"maximum":${large}}}}}`;
  const body = `{"model":"alpha","input":"Hi","tools":[${tool}]}`;
  expect(await sent("/runtime/v1/responses", body)).toContain(`"maximum":${large}`);
  expect(await sent("/compat/responses", body.replace('"input"', '"x":1,"input"'))).toContain(
    `"maximum":${large}`,
  );
});
