import { afterAll, beforeAll, expect, it } from "vitest";
import { grant, permit } from "#plugins/folders/folders.fixture.ts";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { type NoteClient, noteClient } from "./notes.fixture.ts";

let stage: RunStage;
let me: NoteClient;
let ben: NoteClient;

beforeAll(async () => {
  stage = await startRunStage({
    env: { OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}', BYPASS_ADMIN_ACCESS_CONTROL: "false" },
  });
  me = noteClient(stage.user);
  ben = noteClient(await stage.app.user());
  await permit(stage.app, [ben.user], { access_grants: { allow_users: true } });
});
afterAll(() => stage?.close());

// oxlint-disable-next-line typescript/no-explicit-any -- bodies are of every shape
const asked = (): any =>
  stage.upstream.requests.findLast(({ path }) => path.endsWith("/chat/completions"))?.body;
const toolNames = () =>
  (asked().tools ?? []).map((tool: { function: { name: string } }) => tool.function.name) as string[];

/** Asks in a chat, where built-in tools are offered; resolves when the reply has ended. */
async function ask(body: object, chatId?: string, { token } = stage.user) {
  const chat = await stage.makeChat();
  stage.upstream.reply(text("Fine."));
  const place = { chat_id: chatId ?? chat.chatId, id: chat.replyId, user_message: { id: chat.userId } };
  const answer = await stage.complete({ ...(chatId === undefined ? place : {}), ...body }, token);
  await stage.ended(chat.chatId);
  return { ...chat, answer };
}

it("gives a model the notes that a request names, as they are now, and refuses foreign ones", async () => {
  const note = await me.make("Gauges", "The upper gauge shows 2.31 m.");
  await ask({ files: [{ type: "note", id: note.id, name: "Gauges" }] });
  expect(JSON.stringify(asked().messages)).toContain("The upper gauge shows 2.31 m.");
  await me.call(`POST /${note.id}/update`, { data: { content: { md: "It shows 1.08 m." } } });
  await ask({ files: [{ type: "note", id: note.id }] });
  expect(JSON.stringify(asked().messages)).toContain("It shows 1.08 m.");

  const foreign = await ben.make("Secret", "Whisper");
  const before = stage.upstream.requests.length;
  for (const id of [foreign.id, "unknown"]) {
    const { status } = await stage.complete({ files: [{ type: "note", id }] });
    expect(status).toBe(404);
  }
  expect(stage.upstream.requests.length).toBe(before);
});

it("lets models search, read, write and change notes with the access of the person", async () => {
  const own = await me.make("Mill wheel", "It turns on water.");
  const shared = await ben.make("Shared", "Read me", { access_grants: [grant(me.user.id)] });
  const foreign = await ben.make("Mill secret", "Whisper");
  const call = (id: string, name: string, parameters: object) => ({
    id,
    name,
    arguments: JSON.stringify(parameters),
  });
  const chat = await stage.makeChat();
  stage.upstream.reply(
    sse(
      toolCallChunks([
        call("c1", "search_notes", { query: "mill" }),
        call("c2", "view_note", { note_id: own.id, offset: 3, max_chars: 5 }),
        call("c3", "view_note", { note_id: foreign.id }),
        call("c4", "write_note", { title: "Made", content: "* one" }),
        call("c5", "replace_note_content", { note_id: own.id, content: "It stands still." }),
        call("c6", "replace_note_content", { note_id: shared.id, content: "evil" }),
      ]),
    ),
  );
  stage.upstream.reply(text("Done."));
  await stage.complete({ chat_id: chat.chatId, id: chat.replyId, user_message: { id: chat.userId } });
  await stage.ended(chat.chatId);
  const isAnswered = ({ body }: { body?: { messages?: { role: string }[] } }) =>
    body?.messages?.some(({ role }) => role === "tool") === true;
  const results = stage.upstream.requests
    .findLast(isAnswered)
    ?.body.messages.filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => content) as string[];
  expect(JSON.parse(results[0]!).map(({ title }: { title: string }) => title)).toEqual(["Mill wheel"]);
  expect(JSON.parse(results[1]!)).toMatchObject({ content: "turns", total_chars: 18, truncated: true });
  expect(results[2]).toContain("Not found");
  const made = JSON.parse(results[3]!);
  expect(made).toMatchObject({ status: "success", title: "Made" });
  expect(await me.read(made.id)).toBe("* one");
  expect(await me.read(own.id)).toBe("It stands still.");
  expect(results[5]).toContain("may read this but not change it");
  expect(await ben.read(shared.id)).toBe("Read me");
  expect((await me.call(`GET /${own.id}/history`)).body).toHaveLength(2);
});

it("lends the notes of a model to those who use it, and adds only what its author can read", async () => {
  const note = await me.make("House rules", "Close the sluice.");
  const create = (id: string, knowledge: object[]) =>
    stage.user.call("POST /api/v1/models/create", {
      id,
      name: id,
      base_model_id: "alpha",
      params: {},
      meta: { knowledge },
      access_grants: [grant("*")],
    });
  expect((await create("ruler", [{ type: "note", id: note.id, name: "House rules" }])).status).toBe(200);
  const foreign = await ben.make("Ben's", "Whisper");
  expect((await create("thief", [{ type: "note", id: foreign.id }])).status).toBeGreaterThanOrEqual(400);

  await ask({ model: "ruler" });
  expect(toolNames()).toContain("view_note");
  expect(JSON.stringify(asked().messages)).toContain(note.id);
  expect(JSON.stringify(asked().messages)).not.toContain("Close the sluice.");
  await ask({ model: "ruler", params: { function_calling: "legacy" } });
  expect(JSON.stringify(asked().messages)).toContain("Close the sluice.");
});

it("leaves the tools out in a chat about a note", async () => {
  await ask({});
  expect(toolNames()).toEqual(
    expect.arrayContaining(["search_notes", "view_note", "write_note", "replace_note_content"]),
  );
  const note = await me.make("About", "x");
  const { id: chatId } = (await me.call(`POST /${note.id}/chat`)).body;
  stage.upstream.reply(text("Fine."));
  const [userId, replyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const answer = await stage.complete({
    chat_id: chatId,
    id: replyId,
    user_message: { id: userId, role: "user", content: "What is it about?", parentId: null, childrenIds: [] },
  });
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  await stage.ended(chatId);
  expect(toolNames().filter((name) => name.endsWith("_note") || name.endsWith("_notes"))).toEqual([]);
});
