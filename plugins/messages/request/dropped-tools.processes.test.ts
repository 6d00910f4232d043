import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { callServer } from "#test/support/app.ts";
import { firstAdmin } from "#test/support/client.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";

let upstream: Upstream;
let place: TestDataDir;
let server: ServerProcess;
let token: string;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always("/chat/completions", text("Hi"));
  place = await preparePlatformDataDir(undefined, "server");
  server = await startProcess({
    ...place.env,
    GLOBAL_LOG_LEVEL: "INFO",
    LOG_FORMAT: "json",
    OPENAI_API_BASE_URLS: upstream.url,
    OPENAI_API_CONFIGS: '{"0": {"api_type": "chat"}}',
  });
  token = await firstAdmin(server.url);
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await place?.remove();
  await upstream?.close();
});

const schema = { type: "object", properties: {} };
const messages = [{ role: "user", content: "Hi" }];
const vendor = { max_tokens: 9, messages };
const vendorTools = [
  { type: "web_search_20250305", name: "web_search" },
  { name: "mine", input_schema: schema },
  { type: "bash_20250124", name: "bash" },
];
const tools = [{ type: "web_search" }, { type: "function", name: "mine", parameters: schema }];

// Contract D.24.
it.each<[string, object, string, string[]]>([
  ["/api/message", { ...vendor, tools: vendorTools }, "messages", ["web_search_20250305", "bash_20250124"]],
  [
    "/api/v1/messages",
    { ...vendor, stream: true, tools: vendorTools },
    "messages",
    ["web_search_20250305", "bash_20250124"],
  ],
  ["/runtime/v1/responses", { input: "Hi", tools }, "responses", ["web_search"]],
  ["/compat/responses", { input: "Hi", stream: true, tools }, "responses", ["web_search"]],
])(
  "tools of %s that only their vendor runs are left out, and the log says so",
  async (path, body, plugin, names) => {
    const before = server.output().length;
    const answer = await callServer(server.url, `POST ${path}`, { token, body: { model: "alpha", ...body } });
    expect(answer.status).toBe(200);
    const asked = upstream.requests.findLast(({ path: at }) => at.endsWith("/chat/completions"))!.body;
    expect(asked.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(["mine"]);
    const lines = () =>
      server
        .output()
        .slice(before)
        .split("\n")
        .filter((line) => line.startsWith("{") && line.includes("were left out of a request"))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect
      .poll(lines)
      .toMatchObject([{ level: "info", plugin, model: "alpha", id: expect.any(String), tools: names }]);
  },
);

it("says nothing where there is nothing to leave out", async () => {
  const before = server.output().length;
  const body = { model: "alpha", ...vendor, tools: vendorTools.slice(1, 2) };
  expect((await callServer(server.url, "POST /api/message", { token, body })).status).toBe(200);
  expect(server.output().slice(before)).not.toContain("left out");
});
