import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { defineTool } from "#kernel/tools/tool.ts";
import { toolListings } from "#plugins/tools/service.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings, type Size } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { ask, isReply } from "../chat-pages.fixture.ts";

const define = (name: string, run: () => Promise<unknown>, more: object = {}) =>
  defineTool({
    id: `desk.${name}`,
    spec: { name, description: `The ${name} of the desk`, parameters: {} },
    run,
    ...more,
  });
const failing = async () => {
  throw new Error("blunt");
};

/** Built-in tools, one of them behind a feature, and a tool that people switch on. */
const desk = definePlugin({
  id: "desk",
  title: "Desk",
  setup: () => ({
    tools: [
      define(
        "read_ledger",
        async () => [
          { year: 1782, sacks: 40 },
          { year: 1783, sacks: 51 },
        ],
        { category: "desk", title: "Read the ledger", server: "Archive", isParallel: true },
      ),
      define("weigh", async () => "# Weighed\n\n- one\n- two\n- three", {
        category: "desk",
        isParallel: true,
      }),
      define("cut", failing, { category: "desk" }),
      define("dream", async () => "A sheep.", { feature: "dreaming", category: "dreaming" }),
      define("letters", async () => "Written.", { isExternal: true }),
    ],
    fills: [
      fill(toolListings, {
        list: async () => [
          { id: "desk.letters", name: "Letters", description: "Writes letters" },
          { id: "server:mcp:bank", name: "Bank", server: { type: "mcp" as const }, authenticated: false },
        ],
        specs: async (_caller, id) =>
          id === "desk.letters" ? { specs: [{ name: "letters", description: "Writes one" }] } : undefined,
      }),
    ],
  }),
});

/** A server whose functions stand in its entry. */
const mill = {
  url: "http://127.0.0.1:9/",
  type: "openapi",
  auth_type: "none",
  spec_type: "json",
  spec: JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Mill", version: "1" },
    paths: { "/grind": { post: { operationId: "grind", summary: "Grinds", responses: { 200: {} } } } },
  }),
  info: { id: "mill", name: "Mill" },
  config: { enable: true },
};

describeInterface("tools in the composer", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(
      startAppWithUpstream({
        models: ["alpha"],
        plugins: [desk],
        env: { TOOL_APPROVAL_POLICY: '{"*": "auto"}' },
      }),
    );
    ({ token } = await world.app.admin());
  });

  async function open(path: string, size: Size = "desk") {
    const opened = await openPage({ url: world.app.url, token, path, size });
    return opened;
  }

  function plan(...calls: readonly { id: string; name: string }[]): void {
    world.upstream.reply(
      isReply,
      sse(toolCallChunks(calls.map((call) => ({ ...call, arguments: '{"shelf": 3}' })))),
    );
  }
  const button = (page: Page, name: RegExp | string) => page.getByRole("button", { name });
  const sent = () => world.upstream.requests.filter(isReply).at(-1)?.body;
  const namesOf = (body: { tools?: { function: { name: string } }[] }) =>
    (body.tools ?? []).map((tool) => tool.function.name);

  test("tools are chosen for a chat and kept with it; calls open to all that is known", async () => {
    plan({ id: "a", name: "read_ledger" }, { id: "b", name: "weigh" });
    plan({ id: "c", name: "cut" });
    world.upstream.reply(isReply, text("Well weighed."));
    const { page } = await open("/");
    await button(page, "Tools").click();
    await page.getByRole("checkbox", { name: /Dreaming/ }).click();
    await page.getByRole("checkbox", { name: /Letters/ }).click();
    expect(await page.getByRole("link", { name: "Connect Bank" }).getAttribute("href")).toBe(
      "/oauth/clients/mcp:bank/authorize",
    );
    await expectNoAxeFindings(page);
    await page.keyboard.press("Escape");
    await button(page, "Switch off Letters").waitFor();
    await ask(page, "Weigh it");
    await page.getByText("Well weighed.", { exact: true }).waitFor();
    expect(sent().messages.filter(({ role }: { role: string }) => role === "tool")).toHaveLength(3);
    expect(namesOf(sent())).toEqual(expect.arrayContaining(["dream", "letters", "weigh"]));

    await button(page, /2 tools/).click();
    await button(page, /Read the ledger/)
      .last()
      .click();
    await page.getByRole("columnheader", { name: "sacks" }).waitFor();
    await page.getByText('"shelf": 3').waitFor();
    await page.getByText("desk.read_ledger").waitFor();
    await page.getByText("JSON", { exact: true }).click();
    await page.getByText('"year": 1782').waitFor();
    await button(page, /^Weigh/).click();
    await page.getByRole("heading", { name: "Weighed" }).waitFor();
    await button(page, /Cut.*failed/).click();
    await page.getByText("Error: The tool failed.").waitFor();
    await expectNoAxeFindings(page);

    await page.reload();
    await button(page, "Switch off Letters").click();
    const counted = page.getByRole("button", { name: /^Tools \d+ on$/ });
    const before = Number((await counted.innerText()).match(/\d+/)?.[0]);
    await counted.click();
    await page.getByRole("checkbox", { name: "Weigh" }).click();
    await button(page, `Tools ${before - 1} on`).waitFor();
    await page.keyboard.press("Escape");
    world.upstream.reply(isReply, text("Once more."));
    await ask(page, "Again");
    await page.getByText("Once more.", { exact: true }).waitFor();
    expect(namesOf(sent())).toContain("dream");
    expect(namesOf(sent())).not.toContain("letters");
    expect(namesOf(sent())).not.toContain("weigh");
    expect(namesOf(sent())).toContain("cut");
    const phone = await open(new URL(page.url()).pathname, "phone");
    await button(phone.page, `Tools ${before - 1} on`).click();
    expect(await phone.page.getByRole("checkbox", { name: "Weigh" }).isChecked()).toBe(false);
    await button(phone.page, "Reset").click();
    await phone.page.getByText("Model default.").waitFor();
  });

  test("a model says what its chats begin with, and an administrator which tools run", async () => {
    const { page } = await open("/workspace/models/new");
    await write(page.getByRole("textbox", { name: "Name" }), "Clerk");
    await page.getByRole("checkbox", { name: "Letters" }).click();
    await page.getByRole("checkbox", { name: "Dreaming" }).first().click();
    await page.getByText("Read the ledger, Weigh, Cut").waitFor();
    await page.getByRole("checkbox", { name: "Desk" }).click();
    await button(page, "Make the model").click();
    await page.waitForURL(/\/workspace\/models\/clerk$/);
    expect((await world.app.call("GET /api/v1/models/model?id=clerk", { token })).body.meta).toMatchObject({
      toolIds: ["desk.letters"],
      defaultFeatureIds: ["dreaming"],
      builtinTools: { desk: false },
      terminalId: null,
    });
    await page.goto(`${world.app.url}/?models=clerk`);
    await button(page, "Switch off Letters").waitFor();
    world.upstream.reply(isReply, text("Begun."));
    await ask(page, "Begin");
    await page.getByText("Begun.", { exact: true }).waitFor();
    expect(namesOf(sent())).toEqual(expect.arrayContaining(["dream", "letters"]));
    expect(namesOf(sent())).not.toContain("weigh");

    const TOOL_SERVER_CONNECTIONS = [mill];
    const path = "POST /api/v1/configs/tool_servers";
    expect((await world.app.call(path, { token, body: { TOOL_SERVER_CONNECTIONS } })).status).toBe(200);
    await page.goto(`${world.app.url}/admin/approvals`);
    const rule = (name: string) => page.getByRole("radiogroup", { name: `Calls of ${name}`, exact: true });
    await rule("Weigh").getByText("Never").click();
    await page.getByText("Saved. It counts for the next call.").waitFor();
    await button(page, "Functions of Letters").click();
    await rule("letters").getByText("Asks").click();
    await button(page, "Functions of Mill").click();
    await rule("grind").waitFor();
    await expect
      .poll(
        async () => (await world.app.call("GET /api/v1/configs/namespace/tools.approval", { token })).body,
      )
      .toMatchObject({ "tools.approval.policy": { "desk.weigh": "deny", "desk.letters/letters": "ask" } });
    await write(page.getByRole("searchbox", { name: "Find a tool" }), "ledger");
    await rule("Weigh").waitFor({ state: "detached" });
    await expectNoAxeFindings(page);
  });
});
