import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { call, toToken } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const messageCount = 2_000;
const messageBytes = 20_000;
const batch = 100;
const goal = "P19";

/** A chat of 40 MB, and ten thousand chats, as their owner meets them. */
export const longChats: Scenario = {
  id: goal,
  title: "long chats and many of them",
  async run(bench) {
    const upstream = await openUpstream();
    const own = { ...bench, rounds: 1, mock: { ...bench.mock, port: upstream.port } };
    const [[seen] = []] = await inRounds(own, [millrace()], async (running) => ({
      long: await measureLong(bench, running, upstream),
      many: await measureMany(bench, running),
    }));
    await upstream.close();
    if (seen === undefined) {
      throw new Error("Nothing was measured.");
    }
    const { long, many } = seen;
    const finding = (what: string, times: readonly number[], atMost?: number) => ({
      goal,
      what: `${what}, p95`,
      values: [quantile(times, 0.95)],
      ...(atMost !== undefined && { atMost }),
      unit: " ms",
      detail: `median ${Math.round(quantile(times, 0.5))} ms, the first ${Math.round(times[0] ?? 0)} ms`,
    });
    return [
      { goal, what: "first page of a 40 MB chat", values: [long.pageBytes / 1000], atMost: 300, unit: " KB" },
      finding("opening a 40 MB chat by its first page", long.opened, 500),
      finding("reading a 40 MB chat whole", long.whole, 500),
      finding("before the upstream is asked, 400 KB of a 40 MB chat", long.askedSome, 150),
      finding("before the upstream is asked, all of a 40 MB chat", long.askedAll, 150),
      finding(`the first page of ${many.count} chats`, many.listed, 50),
      finding(`searching ${many.count} chats`, many.searched, 50),
    ];
  },
};

type Upstream = Awaited<ReturnType<typeof openUpstream>>;

/** Answers every completion with one word, and knows when it was asked last. */
async function openUpstream() {
  const state = { askedAt: 0 };
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "json", object: "model" }] }));
      return;
    }
    state.askedAt = performance.now();
    request.resume();
    request.on("end", () => {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "json" };
      const choices = [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }];
      response.setHeader("content-type", "text/event-stream");
      response.end(`data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    state,
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function measureLong(bench: Bench, running: Running, upstream: Upstream) {
  const times = bench.isQuick ? 20 : 100;
  const { id } = (await call(running, "POST /api/v1/chats/new", {
    chat: { title: "Long", models: ["json"], history: { messages: {}, currentId: null } },
  })) as { id: string };
  for (let from = 0; from < messageCount; from += batch) {
    const messages = Object.fromEntries(Array.from({ length: batch }, (_, n) => toMessage(from + n)));
    const history = { messages, currentId: `m${from + batch - 1}` };
    await read(running, `POST /api/v1/chats/${id}`, { chat: { history } });
  }
  const opened: number[] = [];
  const whole: number[] = [];
  let pageBytes = 0;
  for (let n = 0; n < times; n++) {
    const page = await read(running, `GET /api/v1/chats/${id}/messages`);
    opened.push(page.ms);
    pageBytes = page.bytes;
  }
  for (let n = 0; n < times; n++) {
    whole.push((await read(running, `GET /api/v1/chats/${id}`)).ms);
  }
  // No model reads ten million tokens; some read a hundred thousand.
  const askedSome = await ask(running, upstream, { chatId: id, parentId: "m19", times });
  const last = `m${messageCount - 1}`;
  const askedAll = await ask(running, upstream, { chatId: id, parentId: last, times });
  return { opened, whole, askedSome, askedAll, pageBytes };
}

interface Asking {
  readonly chatId: string;
  /** The message that is replied to. */
  readonly parentId: string;
  readonly times: number;
}

/** Milliseconds from a question to the upstream's being asked. */
async function ask(running: Running, upstream: Upstream, { chatId, parentId, times }: Asking) {
  const asked: number[] = [];
  for (let n = 0; n < times; n++) {
    const [question, reply] = [randomUUID(), randomUUID()];
    const sent = performance.now();
    upstream.state.askedAt = 0;
    await call(running, "POST /api/chat/completions", {
      model: "json",
      stream: true,
      session_id: "bench",
      chat_id: chatId,
      id: reply,
      user_message: { id: question, content: "Is it so?", parentId },
      messages: [{ role: "user", content: "Is it so?" }],
    });
    await until("The upstream was not asked", () => upstream.state.askedAt > 0);
    asked.push(upstream.state.askedAt - sent);
    await isOver(running, chatId);
  }
  return asked;
}

async function measureMany(bench: Bench, running: Running) {
  const [count, times] = bench.isQuick ? [2_000, 20] : [10_000, 100];
  for (let from = 0; from < count; from += batch) {
    const chats = Array.from({ length: batch }, (_, n) => {
      const [question, answer] = [toMessage(0, 300, null), toMessage(1, 300)];
      const history = { messages: Object.fromEntries([question, answer]), currentId: "m1" };
      return { chat: { title: `Chat ${from + n}`, models: ["json"], history } };
    });
    await call(running, "POST /api/v1/chats/import", { chats });
  }
  const listed: number[] = [];
  const searched: number[] = [];
  for (let n = 0; n < times; n++) {
    listed.push((await read(running, "GET /api/v1/chats/?page=1")).ms);
    const word = words[n % words.length];
    searched.push((await read(running, `GET /api/v1/chats/search?text=${word}%20${n}`)).ms);
  }
  return { count, listed, searched };
}

const words = ["wheel", "water", "miller", "stone", "river", "grain", "sluice", "flour"];

function toMessage(at: number, bytes = messageBytes, root?: null): [string, object] {
  const id = `m${at}`;
  const parentId = at === 0 ? (root ?? null) : `m${at - 1}`;
  const text = Array.from({ length: Math.ceil(bytes / 12) }, () => {
    const word = words[Math.floor(Math.random() * words.length)];
    return `${word}${Math.floor(Math.random() * 5_000)}`;
  }).join(" ");
  const role = at % 2 === 0 ? "user" : "assistant";
  return [id, { id, role, content: text.slice(0, bytes), parentId, childrenIds: [], done: true }];
}

/**
 * Reads an answer's text as browsers do, unpacking while the rest is on its way; `fetch` would take longer to unpack it
 * than the server to send it.
 */
async function read(running: Running, route: string, body?: unknown): Promise<{ ms: number; bytes: number }> {
  const [method = "GET", path = "/"] = route.split(" ");
  const started = performance.now();
  const asked = request({
    method,
    host: "127.0.0.1",
    port: running.port,
    path,
    headers: {
      "accept-encoding": "gzip",
      "content-type": "application/json",
      authorization: toToken(running),
      ...(body !== undefined && { prefer: "return=minimal" }),
    },
  }).end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const isPacked = response.headers["content-encoding"] === "gzip";
  const pieces: Buffer[] = [];
  await pipeline(response, isPacked ? createGunzip({ chunkSize }) : new PassThrough(), async (text) => {
    for await (const piece of text) {
      pieces.push(piece as Buffer);
    }
  });
  const text = Buffer.concat(pieces);
  if (response.statusCode !== 200) {
    throw new Error(`${route} answered ${response.statusCode}.`);
  }
  return { ms: performance.now() - started, bytes: text.length };
}

/** The usual sixteen kilobytes would mean thousands of turns of zlib's threads. */
const chunkSize = 256 * 1024;

async function isOver(running: Running, chatId: string): Promise<void> {
  const route = `GET /api/tasks/chat/${chatId}`;
  const hasEnded = async () => ((await call(running, route)) as { task_ids: string[] }).task_ids.length === 0;
  await until("A reply did not end", hasEnded);
}

async function until(failure: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 60_000; !(await holds()); await delay(1)) {
    if (performance.now() > end) {
      throw new Error(`${failure} within a minute.`);
    }
  }
}
