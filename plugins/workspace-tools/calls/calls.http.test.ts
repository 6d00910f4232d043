import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import type { TestUser } from "#test/support/app.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { as, grant, permit, requireOk, weather } from "../tools.fixture.ts";

let stage: RunStage;
let colleague: TestUser;

beforeAll(async () => {
  stage = await startRunStage({
    env: { BYPASS_ADMIN_ACCESS_CONTROL: "false", FUNCTION_CALL_TIMEOUT_SECONDS: "2" },
  });
  colleague = await stage.app.user();
  await permit(stage.app, [colleague], { workspace: { tools: true }, sharing: { tools: true } });
});
afterAll(() => stage?.close());

const completions = (request: UpstreamRequest) => request.path.endsWith("/chat/completions");

async function addTool(id: string, content: string, { by = colleague, shared = true } = {}): Promise<void> {
  const access_grants = shared ? [grant(stage.user, "read")] : [];
  const form = { id, name: `Tool ${id}`, content, access_grants };
  await requireOk(as(stage.app, by)("POST /api/v1/tools/create", form));
}

/** Lets the model make these calls in one round; answers the reply, and what the upstream was sent in both rounds. */
async function ask(tool_ids: readonly string[], calls: readonly (readonly [name: string, args?: object])[]) {
  const toolCalls = calls.map(([name, args = {}], index) => ({
    id: `call_${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  stage.upstream.reply(completions, sse(toolCallChunks(toolCalls)));
  stage.upstream.reply(completions, sse(textChunks("Done.")));
  const { chatId, replyId } = await stage.makeChat();
  const before = stage.upstream.requests.filter(completions).length;
  await requireOk(stage.complete({ chat_id: chatId, id: replyId, tool_ids }));
  await stage.ended(chatId);
  const asked = stage.upstream.requests.filter(completions).slice(before);
  const told = asked[1]?.body.messages.filter(({ role }: { role: string }) => role === "tool") ?? [];
  const reply = await stage.message(chatId, replyId);
  return {
    reply,
    names: asked[0]?.body.tools?.map((tool: { function: { name: string } }) => tool.function.name) ?? [],
    told: told.map(({ content }: { content: string }) => content) as string[],
  };
}

it("a colleague's tool is called by the model as the one who asks, and reads back from the chat", async () => {
  await addTool("weather", weather);
  await requireOk(
    as(stage.app, colleague)("POST /api/v1/tools/id/weather/valves/update", { key: "of the author" }),
  );
  await requireOk(
    as(stage.app, stage.user)("POST /api/v1/tools/id/weather/valves/user/update", { unit: "f" }),
  );
  const { names, told, reply } = await ask(["weather"], [["weather", { city: "Bonn" }]]);
  expect(names).toContain("weather");
  expect(JSON.parse(told[0] ?? "")).toEqual({
    city: "Bonn",
    by: stage.user.name,
    key: "of the author",
    unit: "f",
  });
  expect(reply).toMatchObject({
    done: true,
    content: "Done.",
    output: [
      { type: "function_call", name: "weather", status: "completed" },
      {
        type: "function_call_output",
        output: [{ type: "input_text", text: expect.stringContaining("Bonn") }],
      },
      { type: "message" },
    ],
  });
});

it("refuses tools of others as it refuses unknown ones", async () => {
  await addTool("private", weather, { shared: false });
  const { chatId, replyId } = await stage.makeChat();
  for (const id of ["private", "nothing"]) {
    const answer = await stage.complete({ chat_id: chatId, id: replyId, tool_ids: [id] });
    expect([answer.status, answer.body.error.message]).toEqual([404, "Tool not found"]);
  }
});

it("gives pictures, documents and files to the reply, and the rest to the model", async () => {
  await addTool(
    "shows",
    `const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    export const tools = {
      picture: { run: () => "data:image/png;base64," + pixel },
      page: { run: () => ({ html: "<h1>Hi</h1>", context: "a page" }) },
      inline: { run: () => ({ headers: { "Content-Disposition": "inline" }, body: "<p>In</p>" }) },
      file: { run: () => ({ value: { rows: 2 }, files: [{ name: "a.csv", type: "text/csv", text: "a\\n1" }] }) },
    };`,
  );
  const { told, reply } = await ask(["shows"], [["picture"], ["page"], ["inline"], ["file"]]);
  expect(told).toEqual([
    expect.stringContaining("success"),
    "a page",
    expect.stringContaining("success"),
    '{"rows":2}',
  ]);
  const results = reply.output.filter(({ type }: { type: string }) => type === "function_call_output");
  expect(results.map((result: { embeds?: unknown[] }) => result.embeds?.length ?? 0)).toEqual([0, 1, 1, 0]);
  expect(results.map((result: { files?: unknown[] }) => result.files?.length ?? 0)).toEqual([1, 0, 0, 1]);
});

it("the second function of a name has its tool in front", async () => {
  await addTool("first", `/** One */ export function same() { return 1; }`);
  await addTool("second", `/** Two */ export function same() { return 2; }`);
  const { names, told } = await ask(["first", "second"], [["same"], ["second_same"]]);
  expect(names).toEqual(expect.arrayContaining(["same", "second_same"]));
  expect(told).toEqual(["1", "2"]);
});

it("what hangs, runs away, answers too much or fails is told to the model, and the reply goes on", async () => {
  await addTool(
    "bad",
    `export const tools = {
      hang: { run: () => new Promise(() => {}) },
      loop: { run() { for (;;); } },
      huge: { run: () => "x".repeat(50 * 1024 * 1024) },
      long: { run: () => "y".repeat(2_000_000) },
      fails: { run() { throw new Error("no such city"); } },
      nothing: { run() {} },
    };`,
  );
  const { told, reply } = await ask(
    ["bad"],
    [["hang"], ["loop"], ["huge"], ["long"], ["fails"], ["nothing"], ["absent"]],
  );
  expect(reply).toMatchObject({ done: true, content: "Done." });
  expect(told[0]).toMatch(/2 s/);
  expect(told[1]).toMatch(/longer than 1 s/);
  expect(told[2]).toMatch(/longer than|too/);
  expect(told[3]).toMatch(/\[output truncated\]$/);
  expect(told[3]?.length).toBeLessThan(1_100_000);
  expect(told[4]).toMatch(/no such city/);
  expect(told[6]).toMatch(/not found/);
});

it("tools of two authors share nothing, and reach nothing of the server's", async () => {
  const spy = (mark: string) => `
    globalThis.shared ??= "${mark}";
    export const meta = { capabilities: { storage: true } };
    export const tools = { look_${mark}: { async run(_params, { host }) {
      const found = [];
      for (const code of ["process", "require", "this.constructor.constructor('return process')()"]) {
        try { found.push(typeof eval(code)); } catch { found.push("none"); }
      }
      await host.storage.set("${mark}", 1);
      const undeclared = await host.fetch("http://127.0.0.1/").catch((error) => error.message);
      return { shared: globalThis.shared, keys: await host.storage.list(""), found, undeclared };
    } } };`;
  await addTool("spy_a", spy("a"));
  await addTool("spy_b", spy("b"), { by: stage.user });
  const { told } = await ask(["spy_a", "spy_b"], [["look_a"], ["look_b"]]);
  for (const [index, mark] of ["a", "b"].entries()) {
    expect(JSON.parse(told[index] ?? "")).toMatchObject({
      shared: mark,
      keys: [mark],
      undeclared: expect.stringContaining("did not declare fetch"),
    });
    expect(told[index]).not.toContain('"object"');
  }
});

it("what waits for a yes, or was changed meanwhile, is not called", async () => {
  await addTool("waits", `export const meta = { capabilities: { complete: true } };\n${weather}`);
  const { names, reply } = await ask(["waits"], [["weather", { city: "Bonn" }]]);
  expect(names).not.toContain("weather");
  expect(reply.done).toBe(true);
  expect(JSON.stringify(reply.statusHistory ?? reply)).toContain("administrator");
});
