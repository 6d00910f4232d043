import { readFileSync } from "node:fs";

const read = (name: string): string => readFileSync(new URL(`inside/${name}`, import.meta.url), "utf8");

/**
 * What runs first in every context, as the body of a function of `$0` (sends a message to the host) and `$1` (asks the
 * host for a pure fact). It answers an object of the host's ways in.
 */
export const bootstrap = `"use strict";\nconst send = $0, lookup = $1;\n${[
  "guards",
  "globals",
  "chain",
  "bridge",
]
  .map((name) => read(`${name}.js`))
  .join("\n")}`;
