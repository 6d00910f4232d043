import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { show } from "../report.ts";
import type { Scenario } from "../scenario.ts";

interface Seen {
  readonly first: number;
  readonly coldest: number;
  readonly host: number;
  readonly one: number;
  readonly five: number;
  readonly call: number;
}

const probe = fileURLToPath(new URL("sandbox-probe.ts", import.meta.url));

/** User code: its first call, and one event of a stream against the same work on the host. */
export const sandboxCalls: Scenario = {
  id: "P16",
  title: "sandboxed functions",
  async run(bench) {
    const seen: Seen[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      const { stdout } = await promisify(execFile)(process.execPath, ["--no-node-snapshot", probe]);
      seen.push(JSON.parse(stdout) as Seen);
    }
    const each = (name: keyof Seen) => seen.map((figures) => show(figures[name])).join(", ");
    return [
      {
        goal: "P16",
        what: "first sandboxed call of an owner",
        values: seen.map(({ first }) => first),
        atMost: 5,
        unit: " ms",
        detail: `the process's very first: ${each("coldest")} ms`,
      },
      {
        goal: "P16",
        what: "warm event through one sandboxed hook",
        values: seen.map(({ one, host }) => one / host),
        atMost: 4,
        unit: "×",
        detail: `${each("one")} against ${each("host")} µs`,
      },
      {
        goal: "P16",
        what: "warm event, five hooks of one owner",
        values: seen.map(({ five, one }) => five / one),
        unit: "×",
        detail: `${each("five")} against ${each("one")} µs`,
      },
      {
        goal: "P16",
        what: "warm call, beside the event loop",
        values: seen.map(({ call }) => call),
        unit: " µs",
      },
    ];
  },
};
