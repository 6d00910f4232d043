import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, readBlocks } from "#test/support/docs-pages.ts";
import { root, runShell, startShell, type Started } from "#test/support/shell.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let blocks: Block[];
let upstream: Upstream;
let folder: string;
const left = new Set<string>();

/** The block that holds `words`, as it stands on the page. */
function findBlock(words: string): string {
  const found = blocks.find((block) => block.language === "sh" && block.text.includes(words));
  expect(found, `README.md has no command with "${words}"`).toBeDefined();
  left.delete(found?.text ?? "");
  return found?.text ?? "";
}

/** Fills in the server's address and the provider's address and key, as a reader would. */
const fill = (command: string, url: string) =>
  command
    .replaceAll("http://127.0.0.1:8080", url)
    .replaceAll("https://your-provider/v1", upstream.url)
    .replaceAll("your-key", "upstream-key");

async function makeKey(url: string): Promise<string> {
  const person = { name: "Ana", email: "ana@example.test", password: "Correct-horse-1" };
  const signUp = await fetch(`${url}/api/v1/auths/signup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(person),
  });
  const { token } = (await signUp.json()) as { token: string };
  const made = await fetch(`${url}/api/v1/auths/api_key`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  return ((await made.json()) as { api_key: string }).api_key;
}

beforeAll(async () => {
  blocks = await readBlocks("README.md");
  blocks.filter(({ language }) => language === "sh").forEach((block) => left.add(block.text));
  upstream = await startUpstream();
  upstream.models = ["real-model"];
  upstream.always("/chat/completions", text("From the upstream"));
  folder = await mkdtemp(join(tmpdir(), "readme-"));
});

afterAll(async () => {
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
});

const env = (name: string) => ({ DATA_DIR: join(folder, name), PORT: "0", GLOBAL_LOG_LEVEL: "WARNING" });

describe("the README's walk-through", () => {
  let server: Started;
  let key: string;

  it("starts with one command and prints where to go", { timeout: 120_000 }, async () => {
    server = await startShell(findBlock("npm start"), { cwd: root, env: env("first") });
    expect(server.output()).toContain("Opening the database");
    key = await makeKey(server.url);
  });

  it("lists models and answers at once", async () => {
    const models = await runShell(fill(findBlock("/api/models"), server.url), {
      cwd: root,
      env: { KEY: key },
    });
    expect(JSON.parse(models).data.map(({ id }: { id: string }) => id)).toContain("guide");
    const answer = await runShell(fill(findBlock("api/chat/completions"), server.url), {
      cwd: root,
      env: { KEY: key },
    });
    expect(JSON.parse(answer).choices[0].message.content).toContain("OPENAI_API_BASE_URLS");
  });

  it("connects an upstream while it runs", async () => {
    await runShell(fill(findBlock("/compat/config/update"), server.url), { cwd: root, env: { KEY: key } });
    const list = await fetch(`${server.url}/api/models?refresh=true`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(((await list.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toContain(
      "real-model",
    );
    await server.stop();
  });

  it("connects an upstream by variables", { timeout: 120_000 }, async () => {
    const started = await startShell(fill(findBlock("OPENAI_API_BASE_URLS=https"), ""), {
      cwd: root,
      env: env("second"),
    });
    const second = await makeKey(started.url);
    const answer = await fetch(`${started.url}/api/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${second}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "real-model", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect(await answer.text()).toContain("From the upstream");
    await started.stop();
  });

  it("holds no other command than the test command, which runs this very test", () => {
    expect([...left]).toEqual(["npm test"]);
  });
});
