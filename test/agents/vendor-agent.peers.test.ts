import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentsFolder, runAgent } from "#test/support/agents.ts";
import { type App, startApp } from "#test/support/app.ts";
import { reasoningChunks, textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let app: App;
let common: Upstream;
let vendor: Upstream;
let key: string;

/** The agent in its print mode, which answers once and ends. */
async function ask(prompt: string, options: { model?: string; args?: readonly string[] } = {}) {
  const model = options.model ?? "alpha";
  const run = await runAgent({
    script: "@anthropic-ai/claude-code/cli-wrapper.cjs",
    args: ["-p", prompt, "--output-format", "json", ...(options.args ?? [])],
    env: {
      ANTHROPIC_BASE_URL: `${app.url}/api`,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
  });
  const printed = run.stdout.trim();
  expect(printed, `it printed nothing, but: ${run.stderr}`).toMatch(/^\{.*\}$/s);
  return { ...run, result: JSON.parse(printed) as { result: string; is_error: boolean; usage: object } };
}

const asked = (upstream: Upstream, path: string) =>
  upstream.requests.filter((request) => request.path.split("?")[0]!.endsWith(path));

describe.skipIf(!agentsFolder)(
  "the vendor's command-line agent (needs TEST_AGENTS_DIR)",
  { timeout: 90_000 },
  () => {
    beforeAll(async () => {
      [common, vendor] = await Promise.all([startUpstream(), startUpstream()]);
      common.models = ["alpha"];
      vendor.models = ["claude-x"];
      app = await startApp({
        env: {
          OPENAI_API_BASE_URLS: `${common.url};${vendor.url}`,
          OPENAI_API_KEYS: "k;vendor-key",
          OPENAI_API_CONFIGS: JSON.stringify({ 1: { provider: "anthropic" } }),
        },
      });
      const admin = await app.admin();
      await admin.call("GET /api/models?refresh=true");
      // Usage of streams is asked for where a model has the capability.
      const record = { id: "alpha", name: "Alpha", params: {}, meta: { capabilities: { usage: true } } };
      expect((await admin.call("POST /api/v1/models/create", record)).status).toBe(200);
      key = (await admin.call("POST /api/v1/auths/api_key")).body.api_key as string;
    });

    afterAll(async () => {
      await app.close();
      await Promise.all([common.close(), vendor.close()]);
    });

    it("answers a plain question with a model of another format", async () => {
      common.reply(
        "/chat/completions",
        sse(
          reasoningChunks(["Somebody greets."], ["Greetings", " from", " the mill."], {
            usage: { prompt_tokens: 300, completion_tokens: 7, total_tokens: 307 },
          }),
        ),
      );
      const { code, result } = await ask("Say hello to the miller");
      expect([code, result]).toMatchObject([
        0,
        {
          is_error: false,
          result: "Greetings from the mill.",
          usage: { input_tokens: 300, output_tokens: 7 },
        },
      ]);
      const [request] = asked(common, "/chat/completions");
      expect(request?.body).toMatchObject({
        model: "alpha",
        stream: true,
        reasoning_effort: expect.anything(),
      });
      expect(JSON.stringify(request?.body.messages)).toContain("Say hello to the miller");
      expect(request?.body.tools.length).toBeGreaterThan(3);
    });

    it("runs a command that the model asks for, and goes on with what it gave", async () => {
      const command = { command: "echo mill-$((40 + 2))", description: "Count" };
      common.reply(
        "/chat/completions",
        sse(toolCallChunks([{ id: "call_1", name: "Bash", arguments: JSON.stringify(command) }])),
      );
      common.reply("/chat/completions", sse(textChunks("It said 42.")));
      const { code, result } = await ask("Count for me", { args: ["--allowedTools", "Bash(echo:*)"] });
      expect([code, result.is_error, result.result]).toEqual([0, false, "It said 42."]);
      const turn = asked(common, "/chat/completions").at(-1)?.body.messages.slice(-2);
      expect(turn).toMatchObject([
        { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "Bash" } }] },
        { role: "tool", tool_call_id: "call_1", content: "mill-42" },
      ]);
    });

    it("looks tools up that it holds back", async () => {
      const before = asked(common, "/chat/completions").length;
      const search = { query: "select:WebFetch", max_results: 1 };
      common.reply(
        "/chat/completions",
        sse(toolCallChunks([{ id: "call_1", name: "ToolSearch", arguments: JSON.stringify(search) }])),
      );
      common.reply("/chat/completions", sse(textChunks("Found.")));
      expect((await ask("Find a tool")).result.result).toBe("Found.");
      const requests = asked(common, "/chat/completions").slice(before);
      const tools = requests.map(({ body }) =>
        (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name),
      );
      expect(tools.map((names) => names.includes("WebFetch"))).toEqual([false, true]);
      expect(requests[1]?.body.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: "call_1" });
    });

    it("passes its requests on as they are to an upstream of its own format", async () => {
      vendor.reply("/v1/messages", sse(vendorFrames("Straight through."), { done: false }));
      const { result } = await ask("Hello", { model: "claude-x" });
      expect(result).toMatchObject({
        result: "Straight through.",
        usage: { input_tokens: 3, output_tokens: 2 },
      });
      const [request] = asked(vendor, "/v1/messages");
      expect(request?.path).toContain("?beta=true");
      expect(request?.headers).toMatchObject({
        "x-api-key": "vendor-key",
        "anthropic-beta": expect.stringMatching(/./),
      });
      expect(request?.headers).not.toHaveProperty("authorization");
      expect(request?.body).toHaveProperty("context_management");
    });

    it("says that there is no such model", async () => {
      const { code, result } = await ask("Hello", { model: "nobody" });
      expect([code, result.is_error, result.result]).toEqual([1, true, expect.stringContaining("nobody")]);
    });
  },
);

/** A reply as the vendor streams it. */
function vendorFrames(content: string): string[] {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 0 },
  };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: content } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 2 },
    },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
