import { setTimeout as delay } from "node:timers/promises";
import type { Running } from "../contestant.ts";
import { millrace, plain } from "../contestants.ts";
import { type Bench, failOnErrors, inRounds, openGetLoad } from "../measure.ts";
import { compare } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const connections = 16;

/** The cheapest routes against `node:http` answering the same bytes. */
export const plainRoutes: Scenario = {
  id: "P18",
  title: "health and a cached route",
  async run(bench) {
    const bodies = await readBodies(bench);
    const contestants = [millrace(), plain(bodies.health), plain(bodies.account)];
    const [ours = [], health = [], account = []] = await inRounds(bench, contestants, async (running) => ({
      health: await cpuPerGet(bench, running, "/health"),
      account: await cpuPerGet(bench, running, "/api/v1/users/permissions"),
    }));
    return [
      compare({
        goal: "P18",
        what: "/health: CPU per request",
        ours,
        theirs: health,
        figure: (each) => each.health,
        figureUnit: "µs",
        atMost: 2,
      }),
      compare({
        goal: "P18",
        what: "/api/v1/users/permissions: CPU per request",
        ours,
        theirs: account,
        figure: (each) => each.account,
        figureUnit: "µs",
        atMost: 5,
      }),
    ];
  },
};

async function readBodies(bench: Bench): Promise<{ health: string; account: string }> {
  const running = await millrace().start(bench.mock.port);
  const read = async (path: string) => {
    const authorization = running.headers.slice(15).trim();
    const response = await fetch(`http://127.0.0.1:${running.port}${path}`, { headers: { authorization } });
    if (!response.ok) {
      throw new Error(`${path} answered ${response.status}`);
    }
    return response.text();
  };
  try {
    return { health: await read("/health"), account: await read("/api/v1/users/permissions") };
  } finally {
    await running.stop();
  }
}

async function cpuPerGet(bench: Bench, running: Running, path: string): Promise<number> {
  const load = openGetLoad(running, path, { connections, isPublic: path === "/health" });
  await delay(bench.warm);
  failOnErrors(running, load.take());
  const cpu = running.cpu();
  await delay(bench.window);
  const counts = load.take();
  const spent = running.cpu() - cpu;
  load.stop();
  failOnErrors(running, counts);
  return spent / counts.answers;
}
