import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ApprovalPolicy } from "#kernel/tools/approval-state.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { toPolicy } from "./approver.ts";
import { done } from "./guarded.fixture.ts";
import { type ApprovalStage, isCompletion, startApprovalStage } from "./stage.fixture.ts";

const toolOf = (approval?: ApprovalPolicy) =>
  defineTool({
    id: "mail",
    spec: { name: "send", description: "", parameters: {} },
    ...(approval && { approval }),
    run: async () => "",
  });

it.each<[ApprovalPolicy | undefined, Record<string, ApprovalPolicy>, ApprovalPolicy]>([
  [undefined, {}, "ask-after-untrusted"],
  [undefined, { "*": "auto" }, "auto"],
  ["auto", {}, "ask-after-untrusted"],
  ["auto", { "*": "auto" }, "auto"],
  ["ask", {}, "ask"],
  ["ask", { "*": "auto" }, "ask"],
  ["auto", { "*": "ask" }, "ask"],
  ["ask", { mail: "auto" }, "auto"],
  ["auto", { mail: "ask", "*": "deny" }, "ask"],
  ["deny", { mail: "ask", "mail/send": "auto" }, "auto"],
  ["auto", { "mail/read": "deny", send: "deny" }, "ask-after-untrusted"],
])("a tool that says %s under %j is %s", (own, policies, expected) => {
  expect(toPolicy(toolOf(own), policies)).toBe(expected);
});

describe("policies", () => {
  let stage: ApprovalStage;
  beforeAll(async () => {
    stage = await startApprovalStage();
  });
  afterAll(() => stage?.close());
  const set = (policy: unknown) =>
    stage.user.call("POST /api/v1/configs/settings", { TOOL_APPROVAL_POLICY: policy });
  afterEach(() => set({}));
  const offered = () =>
    stage.upstream.requests
      .findLast(({ body }) => body?.tools)
      ?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);

  it("a tool that may not be used is neither offered nor run", async () => {
    const client = await stage.connect();
    const run = await stage.ask([{ name: "wipe" }], { session_id: await client.sessionId() });
    expect(await run.told()).toEqual(['Error: The tool "wipe" may not be used here.']);
    expect(done).toEqual([]);
    expect(offered()).toEqual(expect.arrayContaining(["send", "look"]));
    expect(offered()).not.toContain("wipe");
    await run.ended();
  });

  it("the instance's settings count at once, before what a tool says of itself", async () => {
    const client = await stage.answering(() => false);
    const session = { session_id: await client.sessionId() };
    expect((await set({ "guarded.look": "ask", "guarded.send/send": "auto" })).status).toBe(200);
    const calls = [
      { name: "look", id: "a" },
      { name: "send", id: "b" },
    ];
    const run = await stage.ask(calls, session);
    expect(await run.told()).toEqual([expect.stringContaining("did not allow"), "send: done"]);
    await run.ended();
    await set({ "guarded.look": "deny" });
    const next = await stage.ask([{ name: "look" }], session);
    expect(await next.told()).toEqual(['Error: The tool "look" may not be used here.']);
    await next.ended();
    const wrong = await set({ "guarded.look": "perhaps" });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("TOOL_APPROVAL_POLICY")]);
  });

  it("tools that a task model chooses are asked about as well", async () => {
    const client = await stage.answering(() => false);
    const choice = text('{"tool_calls": [{"name": "send", "parameters": {"to": "Ann"}}]}');
    const ask = async (session_id: string | undefined) => {
      done.length = 0;
      stage.upstream.reply((request) => isCompletion(request) && request.body.stream !== true, choice);
      stage.upstream.reply((request) => isCompletion(request) && request.body.stream !== true, text("Well."));
      const { body } = await stage.user.call("POST /api/chat/completions", {
        model: "alpha",
        messages: [{ role: "user", content: "Write" }],
        params: { function_calling: "legacy" },
        tool_ids: ["guarded.send"],
        session_id,
      });
      return body.sources[0].document[0];
    };
    expect(await ask(await client.sessionId())).toMatch(/^Error: The user did not allow/);
    expect(done).toEqual([]);
    // A completion over HTTP shows no calls: without a client, the call has no approver.
    expect(await ask(undefined)).toMatch(/^Error: Nobody was there/);
    await set({ "guarded.send": "auto" });
    expect(await ask(undefined)).toBe("send: done");
    expect(done).toEqual([{ name: "send", parameters: { to: "Ann" } }]);
  });
});

it("without the plugin that asks, what needs an approval does not run", { timeout: 60_000 }, async () => {
  const stage = await startApprovalStage({ PLUGINS_DISABLED: "approvals" });
  const client = await stage.answering(() => true);
  const calls = [
    { name: "send", id: "a" },
    { name: "wipe", id: "b" },
    { name: "look", id: "c" },
  ];
  const run = await stage.ask(calls, { session_id: await client.sessionId() });
  expect(await run.told()).toEqual([
    "Error: This call needs the user's approval, and nobody can be asked.",
    'Error: The tool "wipe" may not be used here.',
    "look: done",
  ]);
  await run.ended();
  await stage.close();
});
