import { createLogger } from "#kernel/log.ts";
import { createSandbox } from "#plugins/sandbox/create-sandbox.ts";
import { toHost } from "#plugins/sandbox/testing.ts";

// A process whose user code runs what nothing can break off for long. Writes what it saw, then ends.
const sandbox = createSandbox({
  log: createLogger({ level: "ERROR", format: "json" }),
  budgetMegabytes: () => 256,
});
const call = (owner: string, source: string) =>
  sandbox
    .call({ owner, id: owner, source }, { name: "f", args: [], host: toHost({}) })
    .catch((error: Error) => error.message);
const started = performance.now();
const stuck = await call(
  "ana",
  "export const f = () => { let s = ' '; for (let i = 0; i < 24; i++) s += s; for (;;) +s; }",
);
const took = performance.now() - started;
const seen = {
  stuck,
  took,
  other: await call("ben", "export const f = () => 1"),
  again: await call("ana", "export const f = () => 2"),
};
await sandbox.close();
process.stdout.write(JSON.stringify(seen), () => process.exit(0));
