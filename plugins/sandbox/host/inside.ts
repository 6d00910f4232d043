import { readFileSync } from "node:fs";

/** In this order: natives before they are guarded, guards before what they guard is used, primordials before code can change them. */
const parts = [
  "natives",
  "guards",
  "guarded-lists",
  "guarded-texts",
  "guarded-rest",
  "globals",
  "primordials",
  "context",
  "call",
  "bridge",
  "together",
  "host",
  "generator",
  "timers",
  "console",
  "module",
  "hook",
  "batch",
  "chain",
] as const;
const ways = "adopt, answer, chain: toChain, end, enter, enterAll, hook: toHook, pull, tick";
const read = (name: string): string => {
  const folder = name.startsWith("guard") ? "hardening" : "inside";
  return readFileSync(new URL(`../${folder}/${name}.js`, import.meta.url), "utf8");
};

/**
 * What runs first in every context: a function of `$0` (sends a message to the host), `$1` (asks the host for a pure
 * fact) and `$2` (whether it runs on the event loop's own thread). It answers an object of the host's ways in. The parts
 * share one scope, which no code of an author can reach.
 */
export const bootstrap = [
  "(function ($0, $1, $2) {",
  '"use strict";',
  "const [send, lookup, onLoop] = [$0, $1, $2];",
  ...parts.map(read),
  `return { ${ways} };`,
  "})",
].join("\n");

/**
 * What runs in the context that hands batches to the chains of an owner. No code of an author runs there, and none of its
 * objects reaches one: what is in it is not guarded.
 */
export const switchboard = [
  '"use strict";',
  ...["natives", "primordials", "switch"].map(read),
  "return { cross, register, resume, retry, where };",
].join("\n");
