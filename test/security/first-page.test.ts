import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { runShell } from "#test/support/shell.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";

/** Texts that run when they are used as HTML, script or shell. */
const payloads = [
  "<img src=x onerror=ran()>",
  "<svg onload=ran()>",
  "<script>ran()</script>",
  "</option></select><img src=x onerror=ran()>",
  "<details open ontoggle=ran()>",
  "[x](javascript:ran())",
  '"><iframe srcdoc="<script>parent.ran()</script>">',
  "<math><mtext></table><mglyph><style><img src=x onerror=ran()>",
  "${ran()}{{ran()}}",
];

/** Security case S83 on the first page. */
describe.skipIf(chromiumPath === undefined)("the first page (needs Chromium)", () => {
  let app: App;
  let started: AppWithUpstream;
  let upstream: Upstream;
  let browser: Browser;
  let page: Page;
  const ran: string[] = [];

  beforeAll(async () => {
    started = await startAppWithUpstream({
      models: [
        { id: "x'; touch pwned; '$(touch pwned)`touch pwned`\n\"", name: payloads.join("") },
        ...payloads.map((id) => ({ id, name: id })),
      ],
      env: { WEBUI_NAME: payloads.join("") },
    });
    ({ app, upstream } = started);
    const { token } = await app.admin();
    await app.call("POST /api/v1/auths/update/profile", {
      token,
      body: { name: payloads.join("").slice(0, 200), profile_image_url: "" },
    });
    browser = await openBrowser();
    page = await browser.newPage();
    await page.exposeFunction("ran", () => void ran.push("ran"));
    page.on("dialog", (dialog) => {
      ran.push(dialog.message());
      void dialog.dismiss();
    });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await started?.close();
  });

  const elements = () =>
    page.evaluate(
      () =>
        document.querySelectorAll(
          "main img, main svg, main iframe, main script, main details, h1 *, header p *, #status *, #answer *, option *",
        ).length,
    );

  it("shows names, models, answers and errors as text, and runs none of it", async () => {
    await page.goto(app.url);
    await page.fill("#sign-in [name=email]", "admin@example.test");
    await page.fill("#sign-in [name=password]", "Correct-horse-1");
    await page.click("#sign-in button");
    await page.waitForSelector("#models option:nth-child(5)", { state: "attached" });
    upstream.always("/chat/completions", text(payloads.join(" ")));
    await page.selectOption("#models", payloads[0] as string);
    await page.click("#ask button");
    await page.waitForFunction(
      (wanted) => document.querySelector("#answer")?.textContent?.includes(wanted),
      payloads.at(-1) as string,
    );
    expect(await elements()).toBe(0);
    upstream.always("/chat/completions", failure(400, payloads.join(" ")));
    await page.click("#ask button");
    await page.waitForFunction(
      (wanted) => document.querySelector("#status")?.textContent?.includes(wanted),
      payloads.at(-1) as string,
    );
    expect(await elements()).toBe(0);
    expect(await page.textContent("h1")).toBe(payloads.join(""));
    expect(ran).toEqual([]);
  });

  it("gives a command that runs nothing but the request, whatever a model is called", async () => {
    const [id] = (
      await page
        .locator("#models option")
        .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value))
    ).filter((value) => value.startsWith("x'"));
    await page.selectOption("#models", id as string);
    const command = await page.textContent("#example");
    const printed = await runShell(
      `cd "$(mktemp -d)"; curl() { printf '%s\\0' "$@"; }\n${command}\necho; ls`,
      { cwd: "/" },
    );
    const sent = printed.split("\0").find((argument) => argument.startsWith("{")) ?? "";
    expect(JSON.parse(sent)).toMatchObject({ model: id });
    expect(printed.split("\0").at(-1)?.trim()).toBe("");
  });

  it("is in nobody's frame and loads no script but its own", async () => {
    const { headers } = await app.call("GET /");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/default-src 'none'; script-src 'self';/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});
