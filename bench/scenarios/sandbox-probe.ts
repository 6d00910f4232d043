// A process of its own that measures the sandbox and writes its figures as one line of JSON: microseconds but `first`.
import { setTimeout as delay } from "node:timers/promises";
import { createLogger } from "../../kernel/log.ts";
import { createSandbox } from "../../plugins/sandbox/create-sandbox.ts";
import { toHost } from "../../plugins/sandbox/testing.ts";

const log = createLogger({ level: "ERROR", format: "json" });
const sandbox = createSandbox({ log, budgetMegabytes: () => 256 });
const hook = (n: number) =>
  `export const f = (a) => a + ${n};
   export function stream(chunk) { const d = chunk.choices[0].delta; if (d.content) d.content += "!"; return chunk; }`;

const host = toHost({});

const chunk = JSON.stringify({
  id: "chatcmpl-0123456789abcdef",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "some-model-2026",
  choices: [{ index: 0, delta: { content: " mill race" }, finish_reason: null, logprobs: null }],
  system_fingerprint: "fp_0123456789",
});

/** Microseconds of one run: the best of some batches, so that a pause of the machine does not count. */
function time(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < 30; batch++) {
    const started = performance.now();
    for (let n = 0; n < 2000; n++) {
      run();
    }
    best = Math.min(best, (performance.now() - started) / 2);
  }
  return best;
}

function onHost(): string {
  const value = JSON.parse(chunk) as { choices: { delta: { content: string } }[] };
  const delta = value.choices[0]?.delta;
  if (delta?.content) {
    delta.content += "!";
  }
  return JSON.stringify(value);
}

/** The first call of an owner: isolate, context, compilation and the call itself. Milliseconds. */
async function first(owner: string): Promise<number> {
  const started = performance.now();
  await sandbox.call({ owner, id: owner, source: hook(0) }, { name: "f", args: [1], host });
  return performance.now() - started;
}

/** Runs of one owner whose events come in the same turn, as on a server where people read along. */
const together = 8;

async function event(owner: string, hooks: number): Promise<number> {
  const links = Array.from({ length: hooks }, (_, n) => ({
    script: { owner, id: `${owner}-${n}`, source: hook(n) },
    shared: JSON.stringify({ user: { id: "u" }, valves: {} }),
    failed: (error: Error) => {
      throw error;
    },
  }));
  const runs = await Promise.all(Array.from({ length: together }, () => sandbox.openStream(links)));
  let best = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < 30; batch++) {
    const started = performance.now();
    for (let n = 0; n < 250; n++) {
      await Promise.all(runs.map((run) => run.push([chunk])));
    }
    best = Math.min(best, (performance.now() - started) / (0.25 * together));
  }
  runs.forEach((run) => run.close());
  return best;
}

async function call(): Promise<number> {
  const script = { owner: "caller", id: "caller", source: hook(0) };
  const started = performance.now();
  for (let n = 0; n < 2000; n++) {
    await sandbox.call(script, { name: "f", args: [1], host });
  }
  return (performance.now() - started) / 2;
}

const firsts: number[] = [];
for (let n = 0; n < 9; n++) {
  firsts.push(await first(`owner${n}`));
  // Owners do not all come in the same instant.
  await delay(100);
}
const figures = {
  first: firsts.toSorted((a, b) => a - b)[4],
  coldest: firsts[0],
  host: time(onHost),
  one: await event("one", 1),
  five: await event("five", 5),
  call: await call(),
};
console.log(JSON.stringify(figures));
await sandbox.close();
