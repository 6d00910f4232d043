import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentsFolder, runAgent } from "#test/support/agents.ts";
import { type App, startApp } from "#test/support/app.ts";
import { reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let upstream: Upstream;
let key: string;

interface Item {
  readonly type: string;
  readonly text?: string;
  readonly aggregated_output?: string;
  readonly exit_code?: number;
}

/** The agent in its exec mode, which works on one request and ends. */
async function ask(prompt: string, { model = "alpha", config = "" } = {}) {
  const run = await runAgent({
    script: "@openai/codex/bin/codex.js",
    args: ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt],
    env: { MILLRACE_KEY: key },
    files: { ".codex/config.toml": toConfig(model) + config, "server.mjs": server },
  });
  const events = run.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { type: string; item?: Item; usage?: object; error?: object });
  const items = events.flatMap(({ type, item }) => (type === "item.completed" && item ? [item] : []));
  return { ...run, events, items };
}

const toConfig = (model: string) => `
model = "${model}"
model_provider = "millrace"
approval_policy = "never"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.millrace]
name = "Millrace"
base_url = "${app.url}/runtime/v1"
env_key = "MILLRACE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;

/** A server with one tool, on its standard streams. */
const server = `
import { createInterface } from "node:readline";
const tool = {
  name: "grind",
  description: "Grinds grain",
  inputSchema: { type: "object", properties: { grain: { type: "string" } }, required: ["grain"] },
  annotations: { readOnlyHint: true },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const results = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "mill", version: "1" },
    }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text: "flour of " + params.arguments.grain }] }),
  };
  const answer = results[method]
    ? { result: results[method]() }
    : { error: { code: -32601, message: "unknown" } };
  if (id !== undefined) {
    console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  }
});
`;

const asked = () => upstream.requests.filter(({ path }) => path.endsWith("/chat/completions"));

describe.skipIf(!agentsFolder)(
  "the Responses format's command-line agent (needs TEST_AGENTS_DIR)",
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      upstream = await startUpstream();
      upstream.models = ["alpha"];
      app = await startApp({ env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "k" } });
      const admin = await app.admin();
      await admin.call("GET /api/models?refresh=true");
      const record = { id: "alpha", name: "Alpha", params: {}, meta: { capabilities: { usage: true } } };
      expect((await admin.call("POST /api/v1/models/create", record)).status).toBe(200);
      key = (await admin.call("POST /api/v1/auths/api_key")).body.api_key as string;
    });

    afterAll(async () => {
      await app.close();
      await upstream.close();
    });

    it("answers a plain question", async () => {
      upstream.reply(
        "/chat/completions",
        sse(
          reasoningChunks(["Somebody greets."], ["Greetings", " from", " the mill."], {
            usage: { prompt_tokens: 300, completion_tokens: 7, total_tokens: 307 },
          }),
        ),
      );
      const { code, items, events } = await ask("Say hello to the miller");
      expect(items).toContainEqual(
        expect.objectContaining({ type: "agent_message", text: "Greetings from the mill." }),
      );
      expect(events.at(-1)).toMatchObject({
        type: "turn.completed",
        usage: { input_tokens: 300, output_tokens: 7 },
      });
      expect(code).toBe(0);
      const [request] = asked();
      expect(request?.body).toMatchObject({ model: "alpha", stream: true });
      expect(request?.body).not.toHaveProperty("client_metadata");
      expect(JSON.stringify(request?.body.messages)).toContain("Say hello to the miller");
    });

    it("runs a command that the model asks for, and goes on with what it gave", async () => {
      const command = JSON.stringify({ cmd: "echo mill-$((40 + 2))" });
      upstream.reply(
        "/chat/completions",
        sse(toolCallChunks([{ id: "call_1", name: "exec_command", arguments: command }])),
      );
      upstream.reply("/chat/completions", sse(textChunks("It said 42.")));
      const { code, items } = await ask("Count for me");
      expect(items).toContainEqual(
        expect.objectContaining({ type: "command_execution", aggregated_output: "mill-42\n", exit_code: 0 }),
      );
      expect([code, items.at(-1)]).toMatchObject([0, { type: "agent_message", text: "It said 42." }]);
      const turn = asked().at(-1)?.body.messages.slice(-2);
      expect(turn).toMatchObject([
        { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "exec_command" } }] },
        { role: "tool", tool_call_id: "call_1", content: expect.stringContaining("mill-42") },
      ]);
    });

    it("uses the tools of its own servers", async () => {
      const call = { id: "call_1", name: "mcp__mill__grind", arguments: '{"grain":"rye"}' };
      upstream.reply("/chat/completions", sse(toolCallChunks([call])));
      upstream.reply("/chat/completions", sse(textChunks("It is flour.")));
      const config = `
[mcp_servers.mill]
command = "${process.execPath}"
args = ["../server.mjs"]
default_tools_approval_mode = "approve"
`;
      const { items } = await ask("Grind some rye", { config });
      expect(items.at(-1)).toMatchObject({ type: "agent_message", text: "It is flour." });
      expect(asked().at(-1)?.body.messages.at(-1)).toMatchObject({
        role: "tool",
        tool_call_id: "call_1",
        content: expect.stringContaining("flour of rye"),
      });
    });

    it("says that there is no such model", async () => {
      const { code, events } = await ask("Hello", { model: "nobody" });
      expect([code, events.at(-1)]).toMatchObject([1, { type: "turn.failed" }]);
      expect(JSON.stringify(events.at(-1))).toContain("Model not found");
    });
  },
);
