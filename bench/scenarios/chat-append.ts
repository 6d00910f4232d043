import { call } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const long = 500;
const megabyte = 1024;

/** The cost of one more message in a short and in a long chat, against rewriting a long chat whole. */
export const chatAppend: Scenario = {
  id: "P12",
  title: "one more message",
  async run(bench) {
    const [seen = []] = await inRounds(bench, [millrace({ plugins: "chat-append" })], (running) =>
      measure(bench, running),
    );
    return [
      compare({
        goal: "P12",
        what: `a message more: ${long} messages against 2`,
        ours: seen,
        theirs: seen.map((each) => ({ ...each, long: each.short })),
        figure: (each) => each.long,
        figureUnit: "ms",
        atMost: 1.5,
      }),
      compare({
        goal: "P12",
        what: "a message more: row against 1 MB rewritten",
        ours: seen,
        theirs: seen.map((each) => ({ ...each, long: each.blob })),
        figure: (each) => each.long,
        figureUnit: "ms",
        atMost: 1 / 15,
      }),
    ];
  },
};

/** Medians in milliseconds; the kinds take turns, so that a disturbance of the machine meets all of them. */
async function measure(bench: Bench, running: Running) {
  const [turns, times] = bench.isQuick ? [3, 10] : [8, 25];
  const seen: Record<"short" | "long" | "blob", number[]> = { short: [], long: [], blob: [] };
  for (let turn = 0; turn <= turns; turn++) {
    // New chats each time: appending makes a short chat longer.
    const chats = { short: await createChat(running, 2), long: await createChat(running, long) };
    const taken = {
      short: await time(running, "/api/v1/bench/append", { ...chats.short, times }),
      long: await time(running, "/api/v1/bench/append", { ...chats.long, times }),
      blob: await time(running, "/api/v1/bench/rewrite", { kilobytes: megabyte, times: 5 }),
    };
    // The first turn warms up.
    for (const kind of turn === 0 ? [] : (["short", "long", "blob"] as const)) {
      seen[kind].push(...taken[kind]);
    }
  }
  return { short: quantile(seen.short, 0.5), long: quantile(seen.long, 0.5), blob: quantile(seen.blob, 0.5) };
}

async function createChat(running: Running, length: number) {
  const words = "A sentence of some length. ".repeat(75);
  const messages = Object.fromEntries(
    Array.from({ length }, (_, n) => {
      const parentId = n === 0 ? null : `m${n - 1}`;
      return [`m${n}`, { id: `m${n}`, role: "user", content: words, parentId, childrenIds: [] }];
    }),
  );
  const leaf = `m${length - 1}`;
  const chat = { title: "Bench", models: [], history: { currentId: leaf, messages } };
  const { id } = (await call(running, "POST /api/v1/chats/new", { chat })) as { id: string };
  return { chat_id: id, parent_id: leaf };
}

async function time(running: Running, path: string, body: unknown): Promise<number[]> {
  return ((await call(running, `POST ${path}`, body)) as { milliseconds: number[] }).milliseconds;
}
