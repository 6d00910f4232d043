import type { Page } from "playwright-core";
import { beforeEach, expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { pick, write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { type PipelinesServer, startPipelinesServer } from "#test/support/pipelines-server.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { silence } from "#test/support/upstream-faults.ts";
import { json, jsonLines } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

const wait = { timeout: 5000 };

let app: App;
let admin: TestUser;
let member: TestUser;
let upstream: Upstream;
let runtime: Runtime;
let pipelines: PipelinesServer;
let page: Page;

describeInterface("the page of connections", ({ setUp, openPage }) => {
  setUp(async (keep) => {
    [upstream, runtime] = [
      await keep(startUpstream()),
      await keep(startRuntime(["llama3:latest", "phi:latest"])),
    ];
    upstream.models = ["alpha", "beta"];
    runtime.loaded = [{ name: "phi:latest", model: "phi:latest", size_vram: 2_000_000_000 }];
    pipelines = await keep(startPipelinesServer("pipe-key"));
    pipelines.pipelines.set("mask", {
      type: "filter",
      name: "Mask",
      valves: { priority: 1, pipelines: ["*"] },
    });
    const env = { OLLAMA_BASE_URLS: "", AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST: "1" };
    app = await keep(startApp({ env }));
    [admin, member] = [await app.admin(), await app.user()];
    const { token } = admin;
    const group = { name: "Millers", description: "" };
    const { id } = (await app.call("POST /api/v1/groups/create", { token, body: group })).body;
    await app.call(`POST /api/v1/groups/id/${id}/users/add`, { token, body: { user_ids: [member.id] } });
  });
  beforeEach(async () => {
    ({ page } = await openPage({ url: app.url, token: admin.token, path: "/admin/connections" }));
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const card = (url: string) => page.getByRole("article", { name: url.replace("http://", ""), exact: true });
  const modelsOf = async ({ token }: TestUser) =>
    (await app.call("GET /api/models", { token })).body.data.map(({ id }: { id: string }) => id);

  test("a new administrator connects, tests and offers models to a group in nine actions", async () => {
    await page.goto(app.url);
    await page.getByRole("button", { name: /^Account:/ }).click();
    await page.getByRole("menuitem", { name: "Administration" }).click();
    await page.getByRole("link", { name: "Connections" }).click();
    await button("Add a connection").click();
    await write(page.getByLabel("Base URL"), upstream.url);
    upstream.reply("/models", json({ error: { message: "no such key" } }, { status: 401 }));
    await button("Test").click();
    await page.getByText("The provider refused with status 401: no such key").waitFor();
    await button("Test").click();
    await page.getByText("2 models found").waitFor();
    await pick(page.getByRole("radio", { name: "Groups" }));
    await button("Save").click();
    await page.getByText("Choose at least one group, or let administrators alone use it.").waitFor();
    await page.getByRole("checkbox", { name: "Millers" }).click();
    await button("Save").click();
    await card(upstream.url).getByText("Reachable").waitFor();
    expect(await modelsOf(member)).toEqual(expect.arrayContaining(["alpha", "beta"]));
    await expectNoAxeFindings(page);
  });

  test("a silent server ends the test within its limit, and what was typed stays", async () => {
    await card(upstream.url).getByRole("button", { expanded: false }).first().click();
    const form = card(upstream.url);
    await write(form.getByLabel("Key"), "sk-river-stones-4711");
    await form.getByRole("button", { name: "Names, headers and parameters" }).click();
    await write(form.getByLabel("Prefix"), "mill");
    await write(form.getByLabel("Parameters added"), "[1]");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText('Write a JSON object, such as {"seed": 7}.').waitFor();
    await write(form.getByLabel("Parameters added"), '{"seed": 7}');
    await form.getByRole("button", { name: "Add a header" }).click();
    await write(form.getByLabel("Name of header 1"), "x-user");
    await write(form.getByLabel("Value of header 1"), "{{USER_ID}}");
    upstream.reply("/models", silence());
    await form.getByRole("button", { name: "Test" }).click();
    await form.getByText("The upstream did not finish in time.").waitFor();
    expect(await form.getByLabel("Prefix").inputValue()).toBe("mill");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("A key is stored: sk-…4711").waitFor();
    await form.getByText("mill.alpha").waitFor();
    const stored = (await app.call("GET /compat/config", { token: admin.token })).body.OPENAI_API_CONFIGS[0];
    expect(stored).toMatchObject({
      prefix_id: "mill",
      extra_params: { seed: 7 },
      headers: { "x-user": "{{USER_ID}}" },
    });
    expect(upstream.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-river-stones-4711");
    await write(form.getByLabel("Base URL"), "http://127.0.0.1:9");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Give the key again: a stored key never moves to another address.").waitFor();
    await write(form.getByLabel("Base URL"), upstream.url);
    await expectNoAxeFindings(page);
  });

  test("what somebody else saved meanwhile is shown before it is replaced", async () => {
    await card(upstream.url).getByRole("button", { expanded: false }).first().click();
    const form = card(upstream.url);
    await form.getByRole("button", { name: "Names, headers and parameters" }).click();
    await form.getByLabel("Tags").waitFor();
    const { body: now } = await app.call("GET /compat/config", { token: admin.token });
    const configs = { 0: { ...now.OPENAI_API_CONFIGS[0], prefix_id: "brook" } };
    await app.call("POST /compat/config/update", {
      token: admin.token,
      body: { ...now, OPENAI_API_CONFIGS: configs },
    });
    await write(form.getByLabel("Tags"), "fast");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Somebody else changed this connection meanwhile: prefix_id.").waitFor();
    expect(await form.getByLabel("Tags").inputValue()).toBe("fast");
    await form.getByRole("button", { name: "Save" }).click();
    const stored = async () =>
      (await app.call("GET /compat/config", { token: admin.token })).body.OPENAI_API_CONFIGS[0];
    await expect.poll(stored, wait).toMatchObject({ prefix_id: "mill", tags: [{ name: "fast" }] });
  });

  test("it is switched off and on, and removed with undo", async () => {
    const toggle = card(upstream.url).getByRole("switch");
    await toggle.click();
    await card(upstream.url).getByText("Off", { exact: true }).waitFor();
    expect(await modelsOf(member)).not.toContain("mill.alpha");
    await toggle.click();
    await card(upstream.url).getByText("Reachable").waitFor();
    await card(upstream.url).getByRole("button", { expanded: false }).first().click();
    await card(upstream.url).getByRole("button", { name: "Remove", exact: true }).click();
    await card(upstream.url).waitFor({ state: "detached" });
    await button("Undo").click();
    await card(upstream.url).waitFor();
    expect(
      (await app.call("GET /compat/config", { token: admin.token })).body.OPENAI_API_BASE_URLS,
    ).toHaveLength(1);
  });

  test("a runtime shows what it holds, fetches with progress, unloads and deletes", async () => {
    await button("Add a connection").click();
    const adding = page.getByRole("region", { name: "New connection" });
    await pick(adding.getByRole("radio", { name: "Local runtime" }));
    await write(adding.getByLabel("Base URL"), runtime.url);
    await adding.getByRole("button", { name: "Test" }).click();
    await adding.getByText("Version 0.12.3 answers").waitFor();
    await adding.getByRole("button", { name: "Save" }).click();
    await card(runtime.url).getByText("2 models").waitFor();
    await card(runtime.url).getByRole("button", { expanded: false }).first().click();
    const models = page.getByRole("region", { name: "Models on this runtime" });
    await models.getByText("In memory: 2 GB").waitFor();
    runtime.reply("/api/generate", json({ done: true }));
    await models.getByRole("button", { name: "Unload" }).click();
    await expect
      .poll(() => runtime.requests.findLast(({ path }) => path.endsWith("/api/generate"))?.body, wait)
      .toMatchObject({
        model: "phi:latest",
        keep_alive: 0,
      });
    runtime.reply(
      "/api/pull",
      jsonLines([{ status: "pulling", digest: "a", total: 100, completed: 60 }, { status: "success" }]),
    );
    await write(models.getByLabel("Fetch a model"), "gemma");
    await models.getByRole("button", { name: "Fetch" }).click();
    await page.getByText("gemma is there.").waitFor();
    runtime.reply("/api/delete", json({}));
    await models.getByRole("button", { name: "Delete llama3:latest" }).click();
    await models.getByText("llama3:latest").waitFor({ state: "detached" });
    await page
      .getByRole("status")
      .getByRole("button", { name: /close|dismiss/i })
      .last()
      .click();
    await expect
      .poll(() => runtime.requests.findLast(({ path }) => path.endsWith("/api/delete"))?.body, wait)
      .toMatchObject({ model: "llama3:latest" });
    await expectNoAxeFindings(page);
  });

  test("a pipelines server shows its valves and takes new ones, also on phones", async () => {
    await app.call("POST /compat/config/update", {
      token: admin.token,
      body: { OPENAI_API_BASE_URLS: [pipelines.url], OPENAI_API_KEYS: ["pipe-key"], OPENAI_API_CONFIGS: {} },
    });
    const phone = await openPage({
      url: app.url,
      token: admin.token,
      path: "/admin/connections",
      size: "phone",
      theme: "dark",
    });
    await phone.page.getByRole("button", { name: "Mask filter" }).tap();
    await write(phone.page.getByLabel("priority"), "7");
    await phone.page.getByRole("region", { name: "Pipelines" }).getByRole("button", { name: "Save" }).tap();
    await expect.poll(() => pipelines.pipelines.get("mask")?.valves["priority"], wait).toBe(7);
    await phone.page.getByLabel("File of a pipeline").setInputFiles({
      name: "rhyme.js",
      mimeType: "text/javascript",
      buffer: Buffer.from('{ type: "filter", name: "Rhyme", valves: { priority: 2, pipelines: ["*"] } }'),
    });
    await phone.page.getByRole("button", { name: "Rhyme filter" }).waitFor();
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    await expectNoAxeFindings(phone.page);
  });
});
