import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chromiumPath, openBrowser } from "#test/support/browser.ts";
import { type Block, fileOf, readBlocks } from "#test/support/docs-pages.ts";
import { root, runShell, startShell, type Started } from "#test/support/shell.ts";

let folder: string;
let server: Started | undefined;
let token = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "contributing-"));
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Follows the page block after block; resolves to the output of each. */
async function runBlocks(blocks: readonly Block[]): Promise<string[]> {
  const printed: string[] = [];
  let key = "";
  for (const block of blocks) {
    const { text } = block;
    const file = fileOf(block);
    if (file !== undefined) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    } else if (text.includes("npm start")) {
      const command = text.replace("./my-plugins", join(folder, "my-plugins"));
      server = await startShell(command, {
        cwd: root,
        env: { DATA_DIR: join(folder, "data"), PORT: "0", GLOBAL_LOG_LEVEL: "WARNING" },
      });
      key = await firstKey(server.url);
    } else {
      const command = text.replaceAll("http://127.0.0.1:8080", server?.url ?? "");
      printed.push(await runShell(command, { cwd: folder, env: { KEY: key } }));
    }
  }
  return printed;
}

async function firstKey(url: string): Promise<string> {
  const person = { name: "Nia", email: "nia@example.test", password: "Correct-horse-1" };
  const headers = { "content-type": "application/json" };
  ({ token } = (await (
    await fetch(`${url}/api/v1/auths/signup`, { method: "POST", headers, body: JSON.stringify(person) })
  ).json()) as { token: string });
  const made = await fetch(`${url}/api/v1/auths/api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await made.json()) as { api_key: string }).api_key;
}

it(
  "leads to a working plugin with a setting, a route, a filter, a tool and a page",
  { timeout: 120_000 },
  async () => {
    const blocks = await readBlocks("CONTRIBUTING.md");
    const printed = await runBlocks(blocks);
    const [greeting, streamed] = printed;
    expect(JSON.parse(greeting ?? "")).toEqual({
      text: "Ahoy, Nia!",
      tools: expect.arrayContaining(["greet"]),
    });
    const words = (streamed ?? "").match(/"content":"([^"]*)"/g)?.join("") ?? "";
    expect(words).toContain("PLUGIN");
    expect(words.replaceAll('"content":"', "")).not.toMatch(/[a-z]{4}/);
    const docs = await fetch(`${server?.url}/api/v1/openapi.json`);
    expect(await docs.text()).toContain("/api/v1/greeter/hello");
    const listed = await fetch(`${server?.url}/api/v1/pages`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const pages = (await listed.json()) as { path: string }[];
    expect(pages.find(({ path }) => path === "/greeter")).toMatchObject({
      module: "/plugins/greeter/greeter.js",
    });
  },
);

it.skipIf(chromiumPath === undefined)("shows the plugin's page in a browser (needs Chromium)", async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(server?.url ?? "");
    await page.getByLabel("E-mail").fill("nia@example.test");
    await page.getByLabel("Password").fill("Correct-horse-1");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.locator("nav a[href='/greeter']").click();
    await page.getByRole("main").getByText("Ahoy, Nia!", { exact: true }).waitFor();
  } finally {
    await browser.close();
  }
});
