import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { upload } from "../client.fixture.ts";
import { type PassageSearch, passageSearches } from "../service.ts";

const deed = Array.from({ length: 400 }, (_, at) =>
  at === 250 ? "The sluice gate belongs to Ada. --pre=/bin/sh" : `Line ${at + 1} of the deed.`,
).join("\n");

let stage: RunStage;
let ids: { deed: string; picture: string; foreign: string };

beforeAll(async () => {
  stage = await startRunStage({ env: { VIEW_FILE_MAX_CHARS: "500", KNOWLEDGE_GREP_MAX_MATCHES: "10" } });
  const { app, user } = stage;
  const other = await app.user();
  const add = async (name: string, text: string, token: string) =>
    (await upload(app, [name, text], { token, query: "?process_in_background=false" })).body.id as string;
  ids = {
    deed: await add("deed.txt", deed, user.token),
    picture: await add("wheel.bin", "\u0000\u0001", user.token),
    foreign: await add("secret.txt", "The foreign sluice", other.token),
  };
  const meta = { capabilities: { file_context: false } };
  const model = { id: "reader", name: "Reader", base_model_id: "alpha", meta, params: {} };
  expect((await user.call("POST /api/v1/models/create", model)).status).toBe(200);
});
afterAll(() => stage?.close());

/** Runs calls in a chat whose question brought two files. */
async function run(...calls: Parameters<typeof runScripted>[1]) {
  const chat = await stage.makeChat();
  const files = [ids.deed, ids.picture].map((id) => ({ type: "file", id, name: id }));
  const question = { id: crypto.randomUUID(), content: "What does it say?", files };
  const body = { model: "reader", user_message: question, parent_id: chat.replyId };
  return await runScripted(stage, calls, { chat: { ...chat, replyId: crypto.randomUUID() }, ...body });
}

describe("the files of a chat", () => {
  it("are listed, searched, and read by the model; the reply names its sources", async () => {
    const found = await run(
      { name: "list_chat_files" },
      { name: "query_chat_files", args: { query: "Who owns the sluice gate?", count: 1 } },
      { name: "grep_chat_files", args: { pattern: "^line 1\\d of", case_insensitive: true } },
      { name: "view_file", args: { file_id: ids.deed, start_line: 251, end_line: 252, line_numbers: true } },
    );
    expect(found.offered).toEqual(
      expect.arrayContaining(["list_chat_files", "query_chat_files", "grep_chat_files", "view_file"]),
    );
    const [list, passages, lines, view] = found.values;
    expect(list).toMatchObject([
      { file_id: ids.deed, filename: "deed.txt", status: "completed", size: deed.length },
      { file_id: ids.picture, filename: "wheel.bin" },
    ]);
    expect(passages).toEqual([
      {
        content: expect.stringContaining("belongs to Ada"),
        source: "deed.txt",
        file_id: ids.deed,
        distance: expect.any(Number),
      },
    ]);
    expect(lines).toMatchObject({ total: 10 });
    expect(lines.matches.map(({ line }: { line: number }) => line)).toEqual([
      10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
    ]);
    expect(view.content).toBe(
      "251: The sluice gate belongs to Ada. --pre=/bin/sh\n252: Line 252 of the deed.",
    );
    expect(found.reply.sources).toMatchObject([
      { source: { id: ids.deed, name: "deed.txt" }, document: [expect.stringContaining("belongs to Ada")] },
      { source: { id: ids.deed }, metadata: [{ file_id: ids.deed, name: "deed.txt" }] },
    ]);
  });

  it("are read in pieces of a bounded size", async () => {
    const { values } = await run(
      { name: "view_file", args: { file_id: ids.deed, max_chars: 1_000_000 } },
      { name: "view_file", args: { file_id: ids.deed, offset: 500, max_chars: 10 } },
      { name: "view_file", args: { file_id: ids.deed, offset: 1e9 } },
      { name: "grep_chat_files", args: { pattern: "deed" } },
      { name: "grep_chat_files", args: { pattern: "deed", count_only: true, file_id: ids.deed } },
    );
    const facts = { file_id: ids.deed, filename: "deed.txt", total_chars: deed.length };
    expect(values[0]).toEqual({
      ...facts,
      offset: 0,
      content: deed.slice(0, 500),
      next_offset: 500,
      truncated: true,
    });
    expect(values[1]).toMatchObject({
      ...facts,
      offset: 500,
      content: deed.slice(500, 510),
      next_offset: 510,
    });
    expect(values[2]).toEqual({ ...facts, offset: deed.length, content: "" });
    expect(values[3]).toMatchObject({ total: 399, truncated: true });
    expect(values[3].matches.length).toBe(10);
    expect(values[4]).toEqual({
      total: 399,
      counts: [{ file_id: ids.deed, source: "deed.txt", count: 399 }],
    });
  });

  it("and no others", async () => {
    const { results } = await run(
      { name: "view_file", args: { file_id: ids.foreign } },
      { name: "grep_chat_files", args: { pattern: "foreign", file_id: ids.foreign } },
      { name: "grep_chat_files", args: { pattern: "--pre=/bin/sh" } },
      { name: "view_file", args: { file_id: ids.picture } },
      { name: "grep_chat_files", args: { pattern: "" } },
      { name: "query_chat_files", args: { query: " " } },
    );
    const absent = "Error: There is no such file in this chat. list_chat_files tells which are.";
    expect(results.slice(0, 2)).toEqual([absent, absent]);
    expect(JSON.parse(results[2] as string)).toMatchObject({ total: 1, matches: [{ line: 251 }] });
    expect(results[3]).toBe('Error: The file "wheel.bin" holds no text that can be read.');
    expect(results[4]).toMatch(/^Error: pattern: /);
    expect(results[5]).toMatch(/^Error: query: /);
  });
});

it("a plugin that knows what texts mean answers questions in place of the search for words", async () => {
  const asked: { query: string; files: string[] }[] = [];
  const search: PassageSearch = {
    async search({ query, files }) {
      asked.push({ query, files: files.map(({ filename }) => filename) });
      return [{ fileId: files[0]!.id, content: "by meaning", score: 0.5 }];
    },
  };
  const meaning = definePlugin({
    id: "meaning",
    title: "Meaning",
    setup: () => ({ fills: [fill(passageSearches, search)] }),
  });
  const old = stage;
  stage = await startRunStage({ plugins: [meaning] });
  try {
    const { app, user } = stage;
    const { body } = await upload(app, ["a.txt", "b"], {
      token: user.token,
      query: "?process_in_background=false",
    });
    const meta = { capabilities: { file_context: false } };
    const model = { id: "reader", name: "Reader", base_model_id: "alpha", meta, params: {} };
    await user.call("POST /api/v1/models/create", model);
    const chat = await stage.makeChat();
    const found = await runScripted(stage, [{ name: "query_chat_files", args: { query: "what?" } }], {
      chat,
      model: "reader",
      files: [{ type: "file", id: body.id }],
    });
    expect(found.values).toEqual([
      [{ content: "by meaning", source: "a.txt", file_id: body.id, distance: 0.5 }],
    ]);
    expect(asked).toEqual([{ query: "what?", files: ["a.txt"] }]);
  } finally {
    await stage.close();
    stage = old;
  }
});
