import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { call, toToken } from "../call.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import { type Model, tokensOf } from "../mock.ts";
import type { Scenario } from "../scenario.ts";

/** Bytes to the reader and writes into the chat of a reply of 2,000 tokens at 50 a second. */
export const chatRuns: Scenario = {
  id: "P13",
  title: "a reply that is written into a chat",
  async run(bench) {
    const sizes = [1, 7].map((size) =>
      millrace({
        name: `millrace (chunk size ${size})`,
        plugins: "row-writes",
        env: { CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE: String(size) },
      }),
    );
    // Bytes and writes hardly differ from time to time.
    const once = { ...bench, rounds: 1 };
    const [single = [], joined = []] = await inRounds(once, sizes, (running) => measure(bench, running));
    const bytes = (size: number, seen: typeof single, atMost: number) => ({
      goal: "P13",
      what: `socket bytes against bytes of the reply, chunk size ${size}`,
      values: seen.map(({ socketBytes, replyBytes }) => socketBytes / replyBytes),
      atMost,
      unit: "×",
      detail: seen.map(({ socketBytes, replyBytes }) => `${socketBytes} against ${replyBytes}`).join(", "),
    });
    return [
      bytes(1, single, 25),
      bytes(7, joined, 8),
      {
        goal: "P13",
        what: "writes of the message against seconds and borders",
        values: [...single, ...joined].map(({ writes, allowed }) => writes / allowed),
        atMost: 1,
        unit: "×",
        detail: [...single, ...joined].map(({ writes, allowed }) => `${writes} of ${allowed}`).join(", "),
      },
    ];
  },
};

interface Message {
  readonly content: string;
  readonly output: readonly unknown[];
}

async function measure(bench: Bench, running: Running) {
  const model: Model = bench.isQuick ? "paced-500" : "paced-2000";
  const [question, id] = [randomUUID(), randomUUID()];
  const messages = {
    [question]: { id: question, role: "user", content: "Hi", parentId: null, childrenIds: [id] },
    [id]: { id, role: "assistant", content: "", parentId: question, childrenIds: [], model, done: false },
  };
  const chat = { title: "Bench", models: [model], history: { currentId: id, messages } };
  const { id: chatId } = (await call(running, "POST /api/v1/chats/new", { chat })) as { id: string };
  const reader = await openReader(running);
  const before = await countWrites(running);
  const started = performance.now();
  await call(running, "POST /api/chat/completions", {
    model,
    stream: true,
    session_id: "bench",
    chat_id: chatId,
    id,
    user_message: { id: question },
    messages: [{ role: "user", content: "Hi" }],
  });
  await isOver(running, chatId);
  const seconds = (performance.now() - started) / 1000;
  const writes = (await countWrites(running)) - before;
  const socketBytes = reader.close();
  const { history } = ((await call(running, `GET /api/v1/chats/${chatId}`)) as { chat: { history: unknown } })
    .chat as { history: { messages: Record<string, Message> } };
  const { content, output } = history.messages[id] as Message;
  if ((content.match(/tok/g) ?? []).length !== tokensOf(model)) {
    throw new Error(`The reply has not all of its ${tokensOf(model)} tokens.`);
  }
  // The run takes the message, gives it back, and notes the number of its last event; an item begins and ends.
  const allowed = Math.floor(seconds) + 3 + 2 * output.length;
  return { socketBytes, replyBytes: Buffer.byteLength(content), writes, allowed };
}

async function isOver(running: Running, chatId: string): Promise<void> {
  for (;;) {
    const { task_ids: ids } = (await call(running, `GET /api/tasks/chat/${chatId}`)) as {
      task_ids: string[];
    };
    if (ids.length === 0) {
      return;
    }
    await delay(100);
  }
}

async function countWrites(running: Running): Promise<number> {
  const route = "GET /api/v1/bench/row-writes?table=chat_message";
  return ((await call(running, route)) as { writes: number }).writes;
}

/** A reader of the run's owner; closing it tells the bytes of all frames. */
async function openReader(running: Running): Promise<{ close(): number }> {
  const headers = { authorization: toToken(running) };
  const socket = new WebSocket(`ws://127.0.0.1:${running.port}/ws`, { headers } as never);
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("error", () => reject(new Error("The socket was refused.")));
    socket.addEventListener("message", ({ data }) => {
      const length = Buffer.byteLength(String(data));
      bytes += length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
      resolve();
    });
  });
  bytes = 0;
  return {
    close() {
      socket.close();
      return bytes;
    },
  };
}
