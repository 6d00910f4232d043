import { Agent, get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { call, toToken } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const goal = "P19";
const lengths = [100, 500, 1_000, 2_000];
const listed = 1_300;

/** What reading chats of ordinary length costs, a message, and the whole list of chats. */
export const readingChats: Scenario = {
  id: goal,
  title: "reading chats",
  async run(bench) {
    const [[seen] = []] = await inRounds({ ...bench, rounds: 1 }, [millrace()], (running) =>
      measure(bench, running),
    );
    if (seen === undefined) {
      throw new Error("Nothing was measured.");
    }
    const chats = seen.chats.flatMap(({ length, cold, warm }) =>
      Object.entries({ cold, warm }).map(([kind, micros]) => ({
        goal,
        what: `a chat of ${length} messages, ${kind}, CPU a message`,
        values: [micros / length],
        atMost: 15,
        unit: " µs",
        detail: `${(micros / 1000).toFixed(1)} ms`,
      })),
    );
    const list = {
      goal,
      what: `the whole list of ${listed} chats, CPU`,
      values: [seen.list / 1000],
      atMost: 8,
    };
    return [...chats, { ...list, unit: " ms" }];
  },
};

async function measure(bench: Bench, running: Running) {
  const [copies, times] = bench.isQuick ? [4, 10] : [12, 50];
  const reader = openReader(running);
  const chats: { length: number; cold: number; warm: number }[] = [];
  await heat(running, reader, times);
  for (const length of lengths) {
    const ids: string[] = [];
    for (let n = 0; n < copies; n++) {
      ids.push(await createChat(running, length));
    }
    const cold: number[] = [];
    for (const id of ids) {
      cold.push(await cpuOf(running, () => reader.read(`/api/v1/chats/${id}`)));
    }
    const again = async () => {
      for (let n = 0; n < times; n++) {
        await reader.read(`/api/v1/chats/${ids[0]}`);
      }
    };
    chats.push({ length, cold: quantile(cold, 0.5), warm: (await cpuOf(running, again)) / times });
  }
  await importChats(running, listed - (lengths.length * copies + 1));
  const lists: number[] = [];
  for (let n = 0; n < times; n++) {
    lists.push(await cpuOf(running, () => reader.read("/api/v1/chats/")));
  }
  reader.close();
  return { chats, list: quantile(lists, 0.5) };
}

/** The first reads of a process compile its code. */
async function heat(running: Running, reader: Reader, times: number): Promise<void> {
  const id = await createChat(running, 200);
  for (let n = 0; n < 4 * times; n++) {
    await reader.read(`/api/v1/chats/${id}`);
    await reader.read("/api/v1/chats/");
  }
}

/** Microseconds; what follows an answer, such as collecting garbage, counts as well. */
async function cpuOf(running: Running, run: () => Promise<void>): Promise<number> {
  const before = running.cpu();
  await run();
  await delay(20);
  return running.cpu() - before;
}

type Reader = ReturnType<typeof openReader>;

function openReader(running: Running) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: toToken(running) };
  return {
    read: (path: string) =>
      new Promise<void>((resolve, reject) => {
        get({ agent, host: "127.0.0.1", port: running.port, path, headers }, (response) => {
          response.resume();
          response.on("end", () =>
            response.statusCode === 200
              ? resolve()
              : reject(new Error(`${path} answered ${response.statusCode}.`)),
          );
        }).on("error", reject);
      }),
    close: () => agent.destroy(),
  };
}

async function createChat(running: Running, length: number): Promise<string> {
  const messages = Object.fromEntries(Array.from({ length }, (_, n) => [`m${n}`, toMessage(n)]));
  const chat = { title: "Bench", models: ["json"], history: { currentId: `m${length - 1}`, messages } };
  return ((await call(running, "POST /api/v1/chats/new", { chat })) as { id: string }).id;
}

function toMessage(n: number) {
  const content = `${n}: ${"A sentence of some length with words. ".repeat(15)}`;
  const place = {
    id: `m${n}`,
    content,
    parentId: n === 0 ? null : `m${n - 1}`,
    childrenIds: [],
    timestamp: 1e9 + n,
  };
  const parts = [{ type: "output_text", text: content }];
  return n % 2 === 0
    ? { ...place, role: "user", models: ["json"] }
    : {
        ...place,
        role: "assistant",
        model: "json",
        done: true,
        usage: { prompt_tokens: 100, completion_tokens: 150 },
        output: [{ type: "message", id: `i${n}`, status: "completed", role: "assistant", content: parts }],
      };
}

async function importChats(running: Running, count: number): Promise<void> {
  const chat = { title: "A chat in the list", models: ["json"], history: { messages: {}, currentId: null } };
  for (let from = 0; from < count; from += 100) {
    const chats = Array.from({ length: Math.min(100, count - from) }, () => ({ chat }));
    await call(running, "POST /api/v1/chats/import", { chats });
  }
}
