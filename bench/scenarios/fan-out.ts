import { setTimeout as delay } from "node:timers/promises";
import type { Running } from "../contestant.ts";
import { millrace, wsLoop } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";
import { openReaders } from "../socket-readers.ts";

// Enough of both that other work of the platform hardly counts.
const sockets = 150;
const perSecond = 200;

/** One event to many sockets against a plain loop over those of `ws`. */
export const fanOut: Scenario = {
  id: "P15",
  title: "fan-out to sockets",
  async run(bench) {
    const contestants = [millrace({ plugins: "fan-out" }), wsLoop];
    const [ours = [], loop = []] = await inRounds(bench, contestants, (running) => measure(bench, running));
    return [
      compare({
        goal: "P15",
        what: `${sockets} sockets, ${perSecond} events a second: CPU per socket and event`,
        ours,
        theirs: loop,
        figure: (cpu) => cpu,
        figureUnit: "µs",
        atMost: 1.3,
      }),
    ];
  },
};

async function measure(bench: Bench, running: Running): Promise<number> {
  const readers = await openReaders(running.port, running.headers, { count: sockets });
  const authorization = /^authorization: (.*)\r$/m.exec(running.headers)?.[1];
  await fetch(`http://127.0.0.1:${running.port}/api/v1/fan-out/start`, {
    method: "POST",
    headers: authorization === undefined ? {} : { authorization },
  });
  await delay(bench.warm);
  readers.take();
  const cpu = running.cpu();
  const started = performance.now();
  await delay(2 * bench.window);
  const [spent, frames] = [running.cpu() - cpu, readers.take()];
  const expected = (sockets * perSecond * (performance.now() - started)) / 1000;
  readers.close();
  if (frames < expected * 0.8) {
    throw new Error(`${running.name} delivered ${frames} of about ${Math.round(expected)} events.`);
  }
  return spent / frames;
}
