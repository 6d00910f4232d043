import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isCompletion, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";

/** Milliseconds that 1,000 memories may add to a request on a machine without other work. */
const goalMs = 5;
/** Far beyond the goal, which suites beside this one cost: what reads or sorts all of them with each word is slower still. */
const mostMs = 50;

let stage: RunStage;

beforeAll(async () => {
  stage = await startRunStage({ env: { OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }) } });
  stage.upstream.always(isCompletion, text("Fine."));
});
afterAll(() => stage?.close());

/** Rows as people and models leave them; through the API, their passages alone would take minutes. */
async function fill(count: number): Promise<void> {
  await stage.app.running.database.query("delete from memory");
  await stage.app.running.database.query(
    `insert into memory (id, user_id, type, path, content, meta, created_at, updated_at)
     select gen_random_uuid()::text, '${stage.user.id}', case when n % 2 = 0 then 'user' else 'context' end,
       case when n % 3 = 0 then 'work/place' || n % 50 end, 'Fact ' || n || ' about the mill and its people',
       '{"source": {"by": "person"}}', n, n
     from generate_series(1, ${count}) as n`,
  );
}

const call = (route: string, body?: unknown) => stage.user.call(route, body);

async function ask(memory: boolean): Promise<number> {
  const started = performance.now();
  const answer = await stage.complete({ stream: false, features: { memory } });
  const ms = performance.now() - started;
  expect(answer.status, answer.text).toBe(200);
  const sent = stage.upstream.requests.findLast(isCompletion)?.body;
  expect(JSON.stringify(sent?.messages).includes("<memories>")).toBe(memory);
  return ms;
}

/** Milliseconds that memories add, by the quicker quarter of the requests: other work of the machine is not measured. */
async function measure(pairs: number): Promise<number> {
  const times: Record<"with" | "without", number[]> = { with: [], without: [] };
  for (let at = 0; at < pairs; at += 1) {
    times.without.push(await ask(false));
    times.with.push(await ask(true));
  }
  const quarter = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 4)] as number;
  return quarter(times.with) - quarter(times.without);
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

describe("many memories", () => {
  it("1,000 of them cost a request next to nothing", { timeout: 120_000 }, async () => {
    await fill(1_000);
    await measure(10);
    const added = await measure(40);
    print(`1,000 memories add ${added.toFixed(1)} ms to a request (goal: at most ${goalMs} ms)`);
    expect(added).toBeLessThanOrEqual(mostMs);
  });

  it("10,000 are the most, listed and searched, and still cheap", { timeout: 120_000 }, async () => {
    await fill(10_000);
    const more = await call("POST /api/v1/memories/add", { content: "One more" });
    expect(more).toMatchObject({
      status: 400,
      body: { detail: "There is room for 10000 memories: remove some first." },
    });
    const all = (await call("GET /api/v1/memories/")).body;
    expect(all).toHaveLength(10_000);
    const found = await call("POST /api/v1/memories/query", { content: "Fact 9876", k: 3 });
    expect([found.status, JSON.stringify(found.body).length < 20_000]).toEqual([200, true]);
    const added = await measure(40);
    print(`10,000 memories add ${added.toFixed(1)} ms to a request`);
    expect(added).toBeLessThanOrEqual(mostMs);
    expect((await call(`DELETE /api/v1/memories/${all[0].id}`)).status).toBe(200);
    expect((await call("POST /api/v1/memories/add", { content: "One more" })).status).toBe(200);
    expect((await call("DELETE /api/v1/memories/delete/user")).status).toBe(200);
    expect((await call("GET /api/v1/memories/")).body).toEqual([]);
  });
});
