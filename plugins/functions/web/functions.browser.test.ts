import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

describeInterface("the pages of functions", ({ setUp, openPage }) => {
  let app: App;
  let upstream: Upstream;
  let admin: TestUser;

  setUp(async (keep) => {
    upstream = await keep(startUpstream());
    upstream.models = ["alpha"];
    app = await keep(startApp({ env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "k" } }));
    admin = await app.admin();
  });

  const call = (route: string, body?: unknown) =>
    app.call(route, { token: admin.token, ...(body === undefined ? {} : { body }) });
  const record = async (id: string) => (await call(`GET /api/v1/functions/id/${id}`)).body;

  /** Puts the cursor to the end of the code and types. */
  async function append(page: Page, code: string): Promise<void> {
    await page.getByRole("textbox", { name: "Code of the function" }).click();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText(code);
  }

  test("from sign-in to a filter that masks addresses for all models it takes ten actions and no page load", async () => {
    const { page } = await openPage({ url: app.url, path: "/auth" });
    let actions = 0;
    const act = async (run: Promise<unknown>) => {
      actions += 1;
      await run;
    };
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await act(write(page.getByLabel("E-mail"), admin.email));
    await act(write(page.getByLabel("Password"), "Correct-horse-1"));
    await act(button("Sign in").click());
    await page.getByRole("button", { name: /^Account:/ }).waitFor();
    let loads = 0;
    page.on("load", () => (loads += 1));
    await act(page.getByRole("button", { name: /^Account:/ }).click());
    await act(page.getByRole("menuitem", { name: "Workspace" }).click());
    await page.getByRole("heading", { name: "Nothing here yet. Begin with a template." }).waitFor();
    await expectNoAxeFindings(page);
    await act(page.getByRole("link", { name: /Mask personal data/ }).click());
    await act(button("Save").click());
    await page.waitForURL(/mask_personal_data$/);
    await act(page.getByRole("switch", { name: "Switched on" }).click());
    await act(page.getByRole("tab", { name: "Use" }).click());
    await act(page.getByText("Every model", { exact: true }).click());
    await expect.poll(() => record("mask_personal_data")).toMatchObject({ is_active: true, is_global: true });
    expect([actions, loads]).toEqual([10, 0]);

    const seen = upstream.nextRequest(({ body }) => body?.messages !== undefined);
    upstream.reply("/chat/completions", text("Written to [EMAIL_1]."));
    const messages = [{ role: "user", content: "Write to ada@example.org." }];
    await call("POST /api/chat/completions", { model: "alpha", messages });
    expect(JSON.stringify((await seen).body.messages)).not.toContain("ada@example.org");

    await page.getByRole("link", { name: "Show the request path" }).click();
    await page
      .getByRole("list", { name: "Request path" })
      .getByRole("link", { name: "Mask personal data" })
      .waitFor();
    await expectNoAxeFindings(page);
  });

  test("code is tried, pinned, saved, refused with its place, and brought back", async () => {
    const content = `export const meta = { priority: 2 };
export const valves = { word: { type: "string", default: "please" } };
export function inlet(body, { valves }) {
  console.log("asked", body.messages.length);
  return { ...body, word: valves.word };
}
`;
    await call("POST /api/v1/functions/create", { id: "polite", name: "Polite", content });
    const path = "/workspace/function/polite";
    const { page } = await openPage({ url: app.url, token: admin.token, path });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await button("Run").click();
    await page.getByRole("table", { name: "Difference" }).getByText(`"word": "please"`).waitFor();
    await page.getByText("asked 1").waitFor();
    await expectNoAxeFindings(page);
    await button("Pin as test").click();
    await page.getByRole("region", { name: "Pinned tests" }).getByText("Passes").waitFor();

    await page.getByRole("tab", { name: "Valves" }).click();
    await write(page.getByRole("textbox", { name: "Word" }), "kindly");
    await button("Save valves").click();
    await expect
      .poll(async () => (await call("GET /api/v1/functions/id/polite/valves")).body)
      .toEqual({ word: "kindly" });

    await page.getByRole("tab", { name: "Try" }).click();
    await append(page, "new Map().nope;");
    // The names of the language are known, what they do not have is not.
    await page.locator(".cm-lintRange-warning", { hasText: /^nope$/ }).waitFor();
    await page.keyboard.press("ControlOrMeta+z");
    await append(page, "valves");
    await page.keyboard.type(".");
    await page.getByRole("option", { name: "word" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("ControlOrMeta+z");
    await page.keyboard.press("ControlOrMeta+z");
    await page.locator(".cm-lintRange-error").first().waitFor({ state: "detached" });
    await append(page, "export function stream( {");
    await page.getByText("The code does not load.").waitFor();
    await page.getByRole("button", { name: /^Line 7, column/ }).waitFor();
    await button("Save").click();
    await page.getByText("Not saved. What is stored stays as it is.").waitFor();
    expect(await record("polite")).toMatchObject({ content, version_id: "1" });

    await page.keyboard.press("ControlOrMeta+z");
    await page.getByText("The code does not load.").waitFor({ state: "detached" });
    await append(page, "export function stream(chunk) { return chunk; }\n");
    await page.getByRole("radio", { name: "stream" }).waitFor({ state: "attached" });
    await button("Save").click();
    await page.getByText("Saved, version 2").waitFor();
    await button("Versions and other functions").click();
    await page.getByRole("button", { name: /^Version 1/ }).click();
    await page.getByRole("dialog").getByText("export function stream(chunk)").waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");
    await button("Restore").click();
    await expect.poll(async () => (await record("polite")).content).toBe(content);
    await button("Undo").click();
    await page.getByText("Saved, version 4").waitFor();

    const theirs = { name: "Polite", content: `${content}// theirs\n` };
    await call("POST /api/v1/functions/id/polite/update", theirs);
    await append(page, "// mine\n");
    await button("Save").click();
    await button("Show the difference").click();
    await page.getByRole("dialog").getByText("// theirs").waitFor();
    await page.getByRole("dialog").getByText("// mine").waitFor();
    expect(await record("polite")).toMatchObject({ content: theirs.content, version_id: "5" });
    await button("Save mine").click();
    await page.getByText("Saved, version 6").waitFor();

    const phone = await openPage({
      url: app.url,
      token: admin.token,
      path,
      size: "phone",
      theme: "dark",
    });
    for (const name of ["Try", "Use", "Console", "Versions"]) {
      await phone.page.getByRole("tab", { name }).click();
      await phone.page.getByRole("tabpanel", { name }).waitFor();
    }
    await expectNoAxeFindings(phone.page);
    await phone.close();

    await page.getByRole("button", { name: "All functions" }).click();
    await write(page.getByRole("searchbox", { name: "Search in functions" }), "polite");
    await page.getByRole("switch", { name: "“Polite” is on" }).click();
    await expect.poll(async () => (await record("polite")).is_active).toBe(true);
    await page.getByRole("button", { name: "Actions for “Polite”" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("link", { name: "Polite" }).waitFor({ state: "detached" });
    await button("Undo").click();
    await page.getByRole("link", { name: "Polite" }).waitFor();
    const file = {
      name: "two.js",
      mimeType: "text/javascript",
      buffer: Buffer.from("export function inlet( {"),
    };
    await page.getByLabel("File to import").setInputFiles(file);
    await page.getByText("Nothing is written while some do not load.").waitFor();
  });
});
