import { setTimeout as delay } from "node:timers/promises";
import { type Counts, type Load, quantile, startLoad } from "./client.ts";
import type { Contestant, Running } from "./contestant.ts";
import { type Mock, type Model, tokensOf } from "./mock.ts";

/** The parts that a scenario works with. */
export interface Bench {
  readonly mock: Mock;
  readonly rounds: number;
  /** Milliseconds of load before each measurement, and of each measurement. */
  readonly warm: number;
  readonly window: number;
  readonly isQuick: boolean;
  /** Best rates seen, by kind of load: the mock must be far above them. */
  readonly best: Map<Model, number>;
}

/** Figures of one measurement. CPU in microseconds, times in milliseconds, rates per second. */
export interface Figures {
  readonly cpuPerAnswer: number;
  readonly cpuPerToken: number;
  readonly answerRate: number;
  readonly tokenRate: number;
  readonly firstToken: number;
  readonly answerTime: number;
  readonly relay99: number;
  readonly relayMax: number;
  readonly incomplete: number;
}

export interface Shape {
  readonly model: Model;
  readonly connections: number;
  /** Milliseconds of the window, when it is not the bench's own. */
  readonly window?: number;
}

/** Warms the contestant up with a load and then measures it under the same load. */
export async function underLoad(bench: Bench, running: Running, shape: Shape): Promise<Figures> {
  const load = openLoad(running, shape);
  await warmUp(running, load, bench.warm);
  return measureLoad(bench, running, load, shape);
}

/** Measures the contestant as it is, from the first request on. */
export async function fromTheFirst(bench: Bench, running: Running, shape: Shape): Promise<Figures> {
  return measureLoad(bench, running, openLoad(running, shape), shape);
}

async function measureLoad(bench: Bench, running: Running, load: Load, shape: Shape): Promise<Figures> {
  const [cpu, started] = [running.cpu(), performance.now()];
  await delay(shape.window ?? bench.window);
  const counts = load.take();
  const [cpuSpent, seconds] = [running.cpu() - cpu, (performance.now() - started) / 1000];
  load.stop();
  failOnErrors(running, counts);
  const figures = toFigures(counts, cpuSpent, seconds);
  bench.best.set(shape.model, Math.max(bench.best.get(shape.model) ?? 0, rateOf(shape.model, figures)));
  // The contestant notices closed connections in its own time; the next load must not pay for it.
  await delay(300);
  return figures;
}

/** A load of completions on the contestant's completions route. */
export function openLoad(running: Running, shape: Shape): Load {
  const { model, connections } = shape;
  const request = completionRequest(running, model);
  return startLoad({ port: running.port, request, connections, tokens: tokensOf(model) });
}

/** A load of GET requests; without a credential when `isPublic`, as nobody sends one to a public route. */
export function openGetLoad(
  running: Running,
  path: string,
  options: { connections: number; isPublic: boolean },
): Load {
  const { connections, isPublic } = options;
  const request = Buffer.from(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${running.port}\r\n${isPublic ? "" : running.headers}\r\n`,
  );
  return startLoad({ port: running.port, request, connections, tokens: 0 });
}

/** Tokens a second for streams, answers a second for whole answers. */
export function rateOf(model: Model, figures: Figures): number {
  return model === "json" ? figures.answerRate : figures.tokenRate;
}

/** Measures each contestant in a fresh process, in random order, once a round; pairs stay in their round. */
export async function inRounds<T>(
  bench: Bench,
  contestants: readonly Contestant[],
  measure: (running: Running) => Promise<T>,
): Promise<T[][]> {
  const results: T[][] = contestants.map(() => []);
  for (let round = 0; round < bench.rounds; round++) {
    for (const at of shuffled(contestants.length)) {
      const running = await contestants[at]!.start(bench.mock.port);
      try {
        results[at]!.push(await measure(running));
      } finally {
        await running.stop();
      }
    }
  }
  return results;
}

/**
 * Measures contestants under the same paced load at the same time, in fresh processes, once a round. A paced load
 * leaves the core idle most of the time, so they hardly meet; a disturbance of the machine meets all of them alike.
 */
export async function sideBySide(
  bench: Bench,
  contestants: readonly Contestant[],
  shape: Shape,
): Promise<Figures[][]> {
  const results: Figures[][] = contestants.map(() => []);
  for (let round = 0; round < bench.rounds; round++) {
    const running: { at: number; process: Running; load: Load }[] = [];
    try {
      for (const at of shuffled(contestants.length)) {
        const process = await contestants[at]!.start(bench.mock.port);
        await heat(bench, process).catch(async (error: unknown) => {
          await process.stop();
          throw error;
        });
        running.push({ at, process, load: openLoad(process, shape) });
      }
      await delay(bench.warm);
      const before = running.map(({ process, load }) => {
        failOnErrors(process, load.take());
        return process.cpu();
      });
      const started = performance.now();
      await delay(2 * bench.window);
      running.forEach(({ at, process, load }, n) => {
        const counts = load.take();
        const seconds = (performance.now() - started) / 1000;
        failOnErrors(process, counts);
        results[at]!.push(toFigures(counts, process.cpu() - before[n]!, seconds));
      });
    } finally {
      running.forEach(({ load }) => load.stop());
      await Promise.all(running.map(({ process }) => process.stop()));
    }
  }
  return results;
}

/** A paced load is so light that its code would be compiled for minutes; dense answers get that done in seconds. */
async function heat(bench: Bench, running: Running): Promise<void> {
  const load = openLoad(running, { model: "burst-5", connections: 16 });
  await warmUp(running, load, bench.warm / 2);
  await load.drain();
  failOnErrors(running, load.take());
  load.stop();
}

/**
 * Keeps the load up for at least `ms` and until the CPU of an answer falls no further, for four times as long at most:
 * how soon the compiler is done depends on the contestant's size and on the machine.
 */
export async function warmUp(running: Running, load: Load, ms: number): Promise<void> {
  const slice = ms / 4;
  const until = performance.now() + 4 * ms;
  await delay(ms - slice);
  failOnErrors(running, load.take());
  let best = Infinity;
  for (let idle = 0; idle < 2 && performance.now() < until;) {
    const cpu = running.cpu();
    await delay(slice);
    const counts = load.take();
    failOnErrors(running, counts);
    const each = (running.cpu() - cpu) / counts.answers;
    idle = each > 0.97 * best ? idle + 1 : 0;
    best = Math.min(best, each);
  }
}

/** Throws when a load saw anything but complete answers. */
export function failOnErrors(running: Running, counts: Counts): void {
  if (counts.failures.length > 0) {
    throw new Error(
      `${running.name}: ${counts.failures.length} failed answers, the first: ${counts.failures[0]}`,
    );
  }
}

/** Per answer, per token and per second; `cpu` in microseconds. */
export function toFigures(counts: Counts, cpu: number, seconds: number): Figures {
  return {
    cpuPerAnswer: cpu / counts.answers,
    cpuPerToken: cpu / counts.tokens,
    answerRate: counts.answers / seconds,
    tokenRate: counts.tokens / seconds,
    firstToken: quantile(counts.first, 0.5),
    answerTime: quantile(counts.whole, 0.5),
    relay99: quantile(counts.relay, 0.99),
    relayMax: counts.relay.reduce((most, value) => Math.max(most, value), 0),
    incomplete: counts.incomplete,
  };
}

function completionRequest(running: Running, model: Model): Buffer {
  const body = JSON.stringify(running.toBody(model));
  const head =
    `POST ${running.path} HTTP/1.1\r\nhost: 127.0.0.1:${running.port}\r\ncontent-type: application/json\r\n` +
    `${running.headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** 0 to `length` - 1, in random order. */
export function shuffled(length: number): number[] {
  return Array.from({ length }, (_, at) => ({ at, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ at }) => at);
}
