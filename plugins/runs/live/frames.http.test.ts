import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventsOf, type RunStage, startRunStage } from "../runs.fixture.ts";

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage();
});
afterAll(() => stage?.close());

const picture = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
const said = { type: "input_text", text: "drawn" };
const output = [
  { type: "function_call", id: "c", call_id: "c", name: "draw", arguments: "{}", status: "completed" },
  { type: "function_call_output", id: "o", call_id: "c", status: "completed", output: [said, picture] },
];
const shown = [output[0], { ...output[1], output: [said] }];

/** A chat in a folder, whose reply a tool made a picture for. */
async function makeDrawn() {
  const folder = await stage.user.call("POST /api/v1/folders/", { name: randomUUID() });
  const chat = await stage.makeChat();
  const call = (route: string, body: object) => stage.user.call(route, body);
  await call(`POST /api/v1/chats/${chat.chatId}/folder`, { folder_id: folder.body.id });
  const messages = { [chat.replyId]: { output, content: "Look.", done: true } };
  await call(`POST /api/v1/chats/${chat.chatId}`, { chat: { history: { messages } } });
  return { ...chat, folderId: folder.body.id as string };
}

// Contract §3.5: pictures that tools made for models are not sent to clients.
it("a client that comes back gets the stored reply without pictures for models", async () => {
  const { chatId, replyId } = await makeDrawn();
  const client = await stage.connect();
  const answer = await client.emit("chat:resume", { chat_id: chatId, message_id: replyId, seq: 9 });
  expect(answer.snapshot.output).toEqual(shown);
  expect((await stage.message(chatId, replyId)).output[1].output).toEqual([said, picture]);
});

// The embedded database has one process alone: what it left is ended once, when the next one starts.
it("a reply whose process died is shown without them, with its chat's title and folder", async () => {
  const { chatId, replyId, folderId } = await makeDrawn();
  const client = await stage.connect();
  const runId = randomUUID();
  const { database } = stage.app.running;
  const write = "update chat_message set run_id = $1, done = false where chat_id = $2 and id = $3";
  await database.query(write, [runId, chatId, replyId]);
  await database.query(
    `insert into chat_run (id, chat_id, message_id, user_id, owner_id, created_at) values ($1, $2, $3, $4, 'gone', 0)`,
    [runId, chatId, replyId, stage.user.id],
  );
  const end = await client.event((_, data) => data?.chat_id === chatId && data.data.type === "chat:active");
  expect(end.data.data).toEqual({ active: false, folder_id: folderId });
  const frames = eventsOf(client, replyId).map(({ data }) => data);
  expect(frames.map(({ type }) => type)).toEqual([
    "chat:message:error",
    "chat:completion",
    "chat:tasks:cancel",
  ]);
  expect(frames[1].data).toMatchObject({ done: true, title: "A chat", error: { content: "interrupted" } });
  expect(frames[1].data.output).toEqual(shown);
});
