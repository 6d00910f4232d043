import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ChatServers, startChatServers } from "#test/support/chat-servers.ts";
import { secondsUntil } from "#test/support/clock/now.ts";
import { percentile, report, times } from "#test/support/faults.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { paced } from "#test/support/upstream-paced.ts";

const count = times(60, 500);
const pausedMs = times(20, 60) * 1_000;
const goals = { runs: count, doubles: 0, "p99 late ms": 15_000 };

let all: ChatServers;
/** Times at which the model was asked, by the number of the automation. */
const asked = new Map<number, number[]>();

beforeAll(async () => {
  all = await startChatServers({ database: "server", replicas: 3 });
  const reply = paced(["All ", "is ", "well."], { every: 200 });
  const script: Script = async (exchange) => {
    const number = Number(/Report (\d+)\./.exec(JSON.stringify(exchange.request.body))?.[1]);
    asked.set(number, [...(asked.get(number) ?? []), Date.now()]);
    await reply(exchange);
  };
  all.upstream.always("/chat/completions", script);
}, 240_000);
afterAll(() => all?.close());

/** Makes automations that are due once, all at the same second. */
async function makeAll(dueAt: number): Promise<Map<string, number>> {
  const start = new Date(dueAt * 1_000).toISOString().replace(/[-:]|\.\d+/g, "");
  const rrule = `DTSTART:${start}\nRRULE:FREQ=DAILY;COUNT=1`;
  const made = new Map<string, number>();
  for (let number = 0; number < count; number += 1) {
    const data = { prompt: `Report ${number}.`, model_id: "alpha", rrule };
    const { status, body, text } = await all
      .admin()
      .call("POST /api/v1/automations/create", { name: `Report ${number}`, data });
    expect([status, text]).toEqual([200, expect.any(String)]);
    made.set(body.id, number);
  }
  return made;
}

type Run = {
  automation_id: string;
  created_at: number;
  status: string;
  error: string | null;
  chat_id: string;
};

async function lastRuns(): Promise<Run[]> {
  const found: Run[] = [];
  for (let page = 1; page <= Math.ceil(count / 30); page += 1) {
    const { body } = await all.admin().call(`GET /api/v1/automations/list?page=${page}`);
    found.push(...body.items.flatMap(({ last_run: run }: { last_run: Run | null }) => run ?? []));
  }
  return found;
}

/** Promise R6: one run for each automation and time, on any number of replicas. */
it(
  `${count} automations due at once run once each, with one replica killed and one paused`,
  { timeout: 600_000 },
  async () => {
    // Long enough ahead that all are stored by then.
    const dueAt = Math.ceil(Date.now() / 1_000) + times(15, 60);
    const made = await makeAll(dueAt);
    expect(secondsUntil(dueAt), "all are set before they are due").toBeGreaterThan(0);
    await expect.poll(() => asked.size, { timeout: 60_000, interval: 10 }).toBeGreaterThan(count / 20);
    await all.servers[1]!.kill();
    all.servers[2]!.child.kill("SIGSTOP");
    const resumeAt = Date.now() + pausedMs;
    await expect.poll(async () => (await lastRuns()).length, { timeout: 240_000, interval: 500 }).toBe(count);
    await pause(Math.max(0, resumeAt - Date.now()));
    all.servers[2]!.child.kill("SIGCONT");
    // The one that slept notices what it has lost, and must not do it again.
    await pause(5_000);

    const runs = await lastRuns();
    expect(runs.filter(({ status }) => status !== "success")).toEqual([]);
    let rows = 0;
    for (const id of made.keys()) {
      rows += (await all.admin(2).call(`GET /api/v1/automations/${id}/runs`)).body.length;
    }
    const chats = new Set(runs.map(({ chat_id: id }) => id)).size;
    // A run that was taken over counts from the try that succeeded; one that a frozen replica had begun may ask too late.
    const late = runs.map(({ automation_id: id, created_at: endedAt }) => {
      const tries = (asked.get(made.get(id) as number) ?? []).filter((at) => at < (endedAt + 1) * 1_000);
      return (tries.at(-1) as number) - dueAt * 1_000;
    });
    const again = [...asked.values()].filter(({ length }) => length > 1).length;
    report("R6", "due at once on three replicas, one killed, one paused", {
      runs: `${rows} (goal ${goals.runs})`,
      doubles: `${rows - chats} (goal ${goals.doubles})`,
      "p99 late ms": `${percentile(late, 99)} (goal ${goals["p99 late ms"]})`,
      "p50 late ms": percentile(late, 50),
      "taken over": again,
    });
    expect([rows, chats]).toEqual([count, count]);
    // The goal is held by the full count alone, which has the machine to itself.
    expect(percentile(late, 99)).toBeLessThan(times(60_000, goals["p99 late ms"]));
  },
);
