import { setTimeout as delay } from "node:timers/promises";
import type { Running } from "./contestant.ts";
import { type Bench, openLoad } from "./measure.ts";
import type { Model } from "./mock.ts";
import type { Finding } from "./report.ts";
import { toCompletion } from "./requests.ts";

/**
 * Asks the mock directly, without a contestant: when that is not far faster than the fastest contestant, the
 * client or the mock was the limit and the rates say nothing about contestants. Paced loads have a fixed rate.
 */
export async function checkHeadroom(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [model, best] of [...bench.best].filter(([model]) => !model.startsWith("paced"))) {
    const rate = await directRate(bench, model);
    const kind = model === "json" ? "answers/s" : "tokens/s";
    findings.push({
      goal: "–",
      what: `mock alone against the fastest contestant (${model})`,
      values: [rate / best],
      atLeast: 2.5,
      unit: "×",
      detail: `${Math.round(rate)} against ${Math.round(best)} ${kind}`,
    });
  }
  return findings;
}

async function directRate(bench: Bench, model: Model): Promise<number> {
  const direct: Running = {
    name: "direct",
    port: bench.mock.port,
    headers: "",
    path: "/v1/chat/completions",
    toBody: toCompletion,
    cpu: () => 0,
    memory: () => 0,
    isAlive: () => true,
    stop: async () => {},
  };
  const load = openLoad(direct, { model, connections: 16 });
  await delay(1500);
  load.take();
  const started = performance.now();
  await delay(2000);
  const counts = load.take();
  const seconds = (performance.now() - started) / 1000;
  load.stop();
  return (model === "json" ? counts.answers : counts.tokens) / seconds;
}
