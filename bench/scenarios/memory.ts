import { rmSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { millrace, newFolder, startMillrace } from "../contestants.ts";
import type { Bench } from "../measure.ts";
import type { Finding } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/**
 * Memory once things are quiet, and the time to the first answer. `BENCH_DATABASE_URL` names an empty Postgres
 * database for the figure with a server.
 */
export const memory: Scenario = {
  id: "M",
  title: "memory and start",
  async run(bench) {
    const findings: Finding[] = [...(await startTimes(bench))];
    findings.push(await settled(bench, "embedded database", {}));
    const url = process.env.BENCH_DATABASE_URL;
    if (url) {
      findings.push(await settled(bench, "database server", { DATABASE_URL: url }));
    }
    return findings;
  },
};

async function startTimes(bench: Bench): Promise<Finding[]> {
  const data = newFolder();
  const times: number[] = [];
  try {
    for (let n = 0; n < bench.rounds + 1; n++) {
      const started = performance.now();
      // No contestant is compared, so it gets all cores.
      const where = { data, cores: "0,1", upstreamPort: bench.mock.port };
      const running = await startMillrace({ name: "millrace", ...where });
      times.push(performance.now() - started);
      await running.stop();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
  return [
    { goal: "M", what: "first start to /health", values: times.slice(0, 1), unit: " ms" },
    { goal: "M", what: "later start to /health", values: times.slice(1), unit: " ms" },
  ];
}

async function settled(bench: Bench, what: string, env: Record<string, string>): Promise<Finding> {
  const running = await millrace({ env }).start(bench.mock.port);
  try {
    await delay(bench.isQuick ? 5000 : 20_000);
    return { goal: "M", what: `settled memory, ${what}`, values: [running.memory()], unit: " MB" };
  } finally {
    await running.stop();
  }
}
