import { setTimeout as delay } from "node:timers/promises";
import type { Counts, Load } from "./client.ts";
import type { Contestant, Running } from "./contestant.ts";
import {
  type Bench,
  failOnErrors,
  type Figures,
  openLoad,
  rateOf,
  type Shape,
  shuffled,
  toFigures,
  warmUp,
} from "./measure.ts";

/**
 * Measures contestants under the same dense load, one after another in short turns, in fresh processes, once a round. A
 * dense load takes the whole core, so they cannot be measured at once; a disturbance of the machine lasts longer than a
 * turn and meets all of them alike.
 */
export async function inTurns(
  bench: Bench,
  contestants: readonly Contestant[],
  shape: Shape,
): Promise<Figures[][]> {
  const results: Figures[][] = contestants.map(() => []);
  for (let round = 0; round < bench.rounds; round++) {
    const running: { at: number; process: Running; turns: Turn[] }[] = [];
    try {
      for (const at of shuffled(contestants.length)) {
        const process = await contestants[at]!.start(bench.mock.port);
        running.push({ at, process, turns: [] });
        const load = openLoad(process, shape);
        await warmUp(process, load, bench.warm);
        await close(load);
      }
      for (let turn = 0; turn < turnsAfterRest + turnsEach; turn++) {
        for (const next of shuffled(running.length)) {
          const { process, turns } = running[next]!;
          turns.push(await takeTurn(bench, process, shape));
        }
      }
      for (const { at, turns } of running) {
        const figures = sumUp(turns.slice(turnsAfterRest));
        bench.best.set(shape.model, Math.max(bench.best.get(shape.model) ?? 0, rateOf(shape.model, figures)));
        results[at]!.push(figures);
      }
    } finally {
      await Promise.all(running.map(({ process }) => process.stop()));
    }
  }
  return results;
}

/** Turns of each contestant in a round: enough that a disturbance of some seconds meets all of them. */
const turnsEach = 24;
/** Turns before those: a contestant that rested while the others warmed up needs a moment (`after-pause.ts`). */
const turnsAfterRest = 4;

interface Turn {
  readonly counts: Counts;
  /** Microseconds. */
  readonly cpu: number;
  readonly seconds: number;
}

async function takeTurn(bench: Bench, process: Running, shape: Shape): Promise<Turn> {
  const load = openLoad(process, shape);
  // Opens the connections, and fills the processor's caches.
  await delay(bench.window / turnsEach / 2);
  failOnErrors(process, load.take());
  const [cpu, started] = [process.cpu(), performance.now()];
  await delay((2 * bench.window) / turnsEach);
  const turn = {
    counts: load.take(),
    cpu: process.cpu() - cpu,
    seconds: (performance.now() - started) / 1000,
  };
  failOnErrors(process, turn.counts);
  await close(load);
  return turn;
}

async function close(load: Load): Promise<void> {
  await load.drain();
  load.stop();
}

function sumUp(turns: readonly Turn[]): Figures {
  const sum = (of: (turn: Turn) => number) => turns.reduce((total, turn) => total + of(turn), 0);
  const counts = {
    answers: sum((turn) => turn.counts.answers),
    tokens: sum((turn) => turn.counts.tokens),
    incomplete: sum((turn) => turn.counts.incomplete),
    failures: turns.flatMap((turn) => turn.counts.failures),
    relay: turns.flatMap((turn) => turn.counts.relay),
    first: turns.flatMap((turn) => turn.counts.first),
    whole: turns.flatMap((turn) => turn.counts.whole),
  };
  return toFigures(
    counts,
    sum(({ cpu }) => cpu),
    sum(({ seconds }) => seconds),
  );
}
