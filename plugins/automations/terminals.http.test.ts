import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { beforeEach, expect, it } from "vitest";
import { connect, entryOf, everyone } from "#plugins/terminals/terminals.fixture.ts";
import { setUp } from "#test/support/set-up.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { automationForm, type AutomationStage, startAutomationStage } from "./automations.fixture.ts";

let stage: AutomationStage;
let server: TerminalServer;

setUp(async (keep) => {
  server = await keep(startTerminalServer());
  stage = await keep(startAutomationStage());
});
beforeEach(() => {
  server.seen.length = 0;
});

const box = (contexts: object) =>
  connect(stage.app, entryOf(server, { server_type: "orchestrator", config: { ...everyone, contexts } }));
const shared = { server_id: "box" };

/** Has the model run a command; resolves to the run and what the command said. */
async function runCommand(id: string, command: string) {
  const call = { id: "c1", name: "run_command", arguments: JSON.stringify({ command }) };
  [sse(toolCallChunks([call])), sse(textChunks("Done."))].forEach((script) =>
    stage.upstream.reply(({ body }) => body?.stream === true, script),
  );
  const before = (await stage.call(`GET /${id}/runs`)).body.length;
  await stage.call(`POST /${id}/run`);
  await expect
    .poll(async () => (await stage.call(`GET /${id}/runs`)).body.length, { timeout: 10_000 })
    .toBe(before + 1);
  const [run] = await stage.runsOf(id);
  const chat = await stage.owner.call(`GET /api/v1/chats/${run.chat_id}`);
  return { run, text: chat.text, calls: server.seen.filter(({ url }) => url.endsWith("/execute")) };
}

it("works in the place that the terminal keeps for the automation", async () => {
  await box({ chat: false, automation: { context_id: "automation_id" } });
  const made = await stage.make({ terminal: shared });
  const { run, calls } = await runCommand(made.id, "pwd");
  expect(run).toMatchObject({ status: "success", error: null });
  await runCommand(made.id, "pwd");
  const all = server.seen.filter(({ url }) => url.endsWith("/execute"));
  expect(all.map(({ headers }) => headers["x-session-id"])).toEqual([made.id, made.id]);
  const secret = new TextEncoder().encode(server.key);
  const shown = calls[0]!.headers["x-service-identity"] as string;
  const { payload } = await jwtVerify(shown, secret, { audience: "box" });
  expect(payload).toMatchObject({ sub: stage.owner.id, session_id: made.id, run_id: `${run.id}-1` });
  await stage.remove(made.id);
});

it("works in the place of its chat where all share the terminal, in the directory that is named", async () => {
  await box({ chat: { context_id: "chat_id" } });
  await mkdir(join(server.home, "reports"), { recursive: true });
  await writeFile(join(server.home, "reports", "today.txt"), "calm");
  const made = await stage.make({ terminal: { ...shared, cwd: "reports" } });
  const { run, text, calls } = await runCommand(made.id, "cat today.txt");
  expect(run).toMatchObject({ status: "success", error: null });
  expect(text).toContain("calm");
  expect(calls.map(({ headers }) => headers["x-session-id"])).toEqual([run.chat_id]);
  const asked = stage.upstream.requests.findLast(({ body }) => body?.tools?.length > 0)!.body.tools;
  expect(JSON.stringify(asked)).toContain(`The working directory is ${join(server.home, "reports")}`);
  await stage.remove(made.id);
});

it("fails a run whose directory is gone, without a chat or a call to the model", async () => {
  await box({});
  const made = await stage.make({ terminal: { ...shared, cwd: "nowhere" } });
  const before = stage.upstream.requests.length;
  await stage.call(`POST /${made.id}/run`);
  expect(await stage.runsOf(made.id)).toMatchObject([
    { status: "error", chat_id: null, error: expect.stringMatching(/nowhere.*Directory not found/) },
  ]);
  expect(stage.upstream.requests.length).toBe(before);
  await stage.remove(made.id);
});

it("refuses terminals that no run can have, at once and when it runs", async () => {
  const ask = async (terminal: object) => {
    const { status, text: said } = await stage.call("POST /create", automationForm({ terminal }));
    return [status, said];
  };
  await box({ automation: false });
  expect(await ask(shared)).toEqual([400, expect.stringContaining("not available for automations")]);
  expect(await ask({ server_id: "none" })).toEqual([400, expect.stringContaining("data.terminal.server_id")]);
  await box({});
  const made = await stage.make({ terminal: shared });
  await box({ automation: false });
  await stage.call(`POST /${made.id}/run`);
  expect(await stage.runsOf(made.id)).toMatchObject([
    { status: "error", chat_id: null, error: expect.stringContaining("not available for automations") },
  ]);
  await stage.remove(made.id);
});
