import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "#kernel/sandbox.ts";
import { openBench, pushChunks, toHost, widenLimits } from "#plugins/sandbox/testing.ts";
import { attacker, attacks, secret, victim } from "./neighbours.fixture.ts";

// Promise S67: functions share nothing but the text of what they are given, whoever owns them. Each suite puts a hostile
// function before and behind one that works with a secret, in the same isolate.
const { sandbox } = openBench();
afterAll(() => sandbox.close());

const toChunk = (content: string) => ({ id: "c", choices: [{ index: 0, delta: { content } }] });

// What leaks shows in any time; a busy machine must not break a hook off that did nothing wrong.
widenLimits({ streamMs: 1_000, streamLoadMs: 5_000 });

let serial = 0;

/** Opens a chain of functions; the place of each is in its valves, and the victim's has the secret as well. */
async function openNeighbours(attack: string, order: readonly ("attacker" | "victim")[]) {
  const run = ++serial;
  const failures: string[] = [];
  const links = order.map((kind, at) => ({
    script: {
      owner: `owner ${run}`,
      id: `${kind} ${run} ${at}`,
      source: kind === "victim" ? victim : attacker(attack),
    },
    shared: JSON.stringify({ valves: { place: `p${at}`, ...(kind === "victim" && { password: secret }) } }),
    lazyMembers: { metadata: () => JSON.stringify({ list: [{ a: 1 }] }) },
    failed: (error: Error) => void failures.push(`${kind}: ${error.message}`),
  }));
  return { chain: await sandbox.openStream(links), failures, links };
}

type Seen = { told?: Record<string, { loot: string; foreign: string }>; intact?: boolean; choices: Json[] };

function expectNothingSeen(chunks: readonly unknown[], count: number): void {
  const seen = chunks as readonly Seen[];
  expect(seen).toHaveLength(count);
  for (const { told, intact, choices } of seen) {
    expect(intact).toBe(true);
    expect(choices).toEqual([{ index: 0, delta: { content: expect.any(String), note: secret.length } }]);
    expect(
      Object.values(told ?? {})
        .map(({ foreign }) => foreign)
        .join(""),
    ).toBe("");
  }
  expect(JSON.stringify(chunks)).not.toContain(secret);
}

const failuresOfVictims = ({ failures }: { readonly failures: readonly string[] }) =>
  failures.filter((failure) => !failure.startsWith("attacker: "));

const orders = {
  before: ["attacker", "victim"],
  behind: ["victim", "attacker"],
  "on both sides of": ["attacker", "victim", "attacker"],
} as const;

describe.each(Object.entries(orders))("a stream hook %s its neighbour", (_, order) => {
  it.each(Object.entries(attacks))("that %s sees nothing", async (_, attack) => {
    const run = await openNeighbours(attack, order);
    const batches = [["one"], ["two"], ["three", "four", "five"], ["six"]];
    for (const texts of batches) {
      const chunks = await pushChunks(run.chain, texts.map(toChunk));
      expect(failuresOfVictims(run)).toEqual([]);
      expectNothingSeen(chunks, texts.length);
    }
    run.chain.close();
  });
});

it.each(Object.entries(attacks))("runs that cross together: one that %s sees nothing", async (_, attack) => {
  const [one, other] = await Promise.all([
    openNeighbours(attack, orders.before),
    openNeighbours(attack, orders.behind),
  ]);
  for (const text of ["one", "two", "three"]) {
    const answers = await Promise.all(
      [one, other].flatMap(({ chain }) => [
        pushChunks(chain, [toChunk(text)]),
        pushChunks(chain, [toChunk(text), toChunk(text)]),
      ]),
    );
    expect([one, other].flatMap(failuresOfVictims)).toEqual([]);
    answers.forEach((answer) => expectNothingSeen(answer, answer.length));
  }
  one.chain.close();
  other.chain.close();
});

it("a hook that is broken off leaves nothing behind for its neighbours", async () => {
  const attack =
    "[Object.prototype, Array.prototype].forEach(plant); if (count === 2) { for (;;) chunk.choices.map(String); }";
  const run = await openNeighbours(attack, orders["on both sides of"]);
  for (const texts of [["one"], ["two", "three"], ["four"]]) {
    const chunks = await pushChunks(run.chain, texts.map(toChunk));
    expect(failuresOfVictims(run)).toEqual([]);
    expectNothingSeen(chunks, texts.length);
  }
  run.chain.close();
});

describe.each([
  ["on the event loop's own thread", true],
  ["on a thread", false],
])("calls %s", (_, isHook) => {
  it.each(Object.entries(attacks))(
    "of one that %s: it sees nothing of its neighbour's",
    async (_, attack) => {
      const run = ++serial;
      const toScript = (kind: string, source: string) => ({
        owner: `owner ${run}`,
        id: `${kind} ${run}`,
        source,
      });
      const [bad, good] = [toScript("attacker", attacker(attack)), toScript("victim", victim)];
      const call = (script: typeof bad, name: string, body: unknown, valves: object) =>
        sandbox.call(script, {
          name,
          args: [body, {}],
          shared: JSON.stringify({ valves }),
          lazyMembers: { metadata: () => JSON.stringify({ list: [{ a: 1 }] }) },
          host: toHost({ echo: async (value) => value }),
          isHook,
        });
      for (const name of ["inlet", "outlet", "inlet"]) {
        const body = { messages: [{ role: "user", content: "x".repeat(300) }] };
        const first = await call(bad, name, body, { place: "before" }).catch(() => body);
        const middle = (await call(good, name, first, { password: secret })) as {
          intact: boolean;
          note: number;
        };
        expect([middle.intact, middle.note]).toEqual([true, secret.length]);
        const last = await call(bad, name, middle, { place: "behind" }).catch(() => body);
        const told = await call(bad, "look", {}, {});
        expect(JSON.stringify([first, middle, last, told])).not.toContain(secret);
        expect((told as { foreign: string }).foreign).toBe("");
      }
      const options = {
        name: "items",
        args: [{ messages: [] }, { valves: { password: secret } }],
        host: toHost({}),
      };
      for await (const item of sandbox.iterate(good, options)) {
        expect((item as { intact: boolean }).intact).toBe(true);
      }
    },
  );
});
