import { describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { ending, line, type Runtime, startRuntime } from "#test/support/runtime.ts";
import { setUp } from "#test/support/set-up.ts";
import { json, jsonLines } from "#test/support/upstream-scripts.ts";

let runtime: Runtime;
let app: App;
let admin: TestUser;

setUp(async (keep) => {
  runtime = await keep(startRuntime(["llama3:latest", "plain:latest"]));
  app = await keep(
    useApp({
      env: {
        OLLAMA_BASE_URLS: [runtime.origin, `${runtime.origin}/`].join(";"),
        OLLAMA_API_CONFIGS: JSON.stringify({ 1: { prefix_id: "box" } }),
      },
    }),
  );
  admin = await app.admin();
  await admin.call("GET /api/models?refresh=true");
  const params = { reasoning_tags: false };
  const record = { id: "plain:latest", base_model_id: null, name: "Plain", meta: {}, params };
  expect((await admin.call("POST /api/v1/models/create", record)).status).toBe(200);
});

const ask = (path: string, body: object) =>
  admin.call(`POST /runtime/api/${path}`, { model: "llama3:latest", ...body });
const messages = [{ role: "user", content: "Hi" }];
type Line = {
  message?: { content?: string; thinking?: string };
  response?: string;
  thinking?: string;
  done: boolean;
};
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((each) => JSON.parse(each) as Line);
const join = (lines: readonly Line[], key: "content" | "thinking") =>
  lines.map(({ message }) => message?.[key] ?? "").join("");

describe("thoughts in tags at the start of a chat", () => {
  const pieces = ["\n<th", "ink>Größ", "er</thi", "nk>", "Yes", " <think>no</think>"];
  const chat = [...pieces.map((content) => line({ content })), line({ content: "" }, ending)];

  it.each(["llama3:latest", "box.llama3:latest"])("are told as thinking, streamed by %s", async (model) => {
    runtime.reply("/api/chat", jsonLines(chat, { split: "bytes" }));
    const lines = linesOf((await ask("chat", { model, messages })).text);
    expect([join(lines, "thinking"), join(lines, "content")]).toEqual(["Größer", "Yes <think>no</think>"]);
    expect(lines.findLastIndex(({ message }) => message?.thinking)).toBeLessThan(
      lines.findIndex(({ message }) => message?.content),
    );
    expect(lines.at(-1)).toEqual({ ...chat.at(-1), model });
    expect(lines.filter(({ done }) => done)).toHaveLength(1);
  });

  it.each(["llama3:latest", "box.llama3:latest"])(
    "are told as thinking in the whole answer of %s",
    async (model) => {
      runtime.reply("/api/chat", json(line({ content: pieces.join("") }, ending)));
      expect((await ask("chat", { model, messages, stream: false })).body).toEqual({
        ...line({ content: "Yes <think>no</think>", thinking: "Größer" }, ending),
        model,
      });
    },
  );

  it("may be all there is, on the last line", async () => {
    runtime.reply("/api/chat", jsonLines([line({ content: "<think>Hm" }, ending)]));
    const lines = linesOf((await ask("chat", { messages })).text);
    expect([join(lines, "thinking"), join(lines, "content")]).toEqual(["Hm", ""]);
    expect(lines.at(-1)).toMatchObject({ done: true, eval_count: 5 });
  });

  it("stay text where the model's settings say so", async () => {
    runtime.reply("/api/chat", jsonLines(chat));
    const { text } = await ask("chat", { model: "plain:latest", messages });
    expect(text).toBe(chat.map((each) => `${JSON.stringify(each)}\n`).join(""));
  });
});

it.each<[string, string[]]>([
  ["a text that only begins like a tag", ["<", "thin", " air"]],
  ["a text that ends there", ["<thi"]],
  ["white space", [" ", "\n"]],
])("%s goes on byte for byte", async (_name, pieces) => {
  const lines = [...pieces.map((content) => line({ content })), line({ content: "" }, ending)];
  runtime.reply("/api/chat", jsonLines(lines));
  const { text } = await ask("chat", { messages });
  expect(text).toBe(lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
});

it("thoughts in tags at the start of a generated text are told as thinking, but not of a raw prompt", async () => {
  const lines = [
    { response: "<think>Hm</think>Yes", done: false },
    { response: "", done: true },
  ];
  const text = async (body: object) => {
    runtime.reply("/api/generate", jsonLines(lines));
    return (await ask("generate", { prompt: "Hi", ...body })).text;
  };
  expect(linesOf(await text({}))).toEqual([
    { response: "", thinking: "Hm", done: false },
    { response: "Yes", done: false },
    { response: "", done: true },
  ]);
  expect(linesOf(await text({ raw: true }))).toEqual(lines);
});
