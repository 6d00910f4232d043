/// <reference path="../../docs/functions.d.ts" />
// Faults that an editor has to point at; never run.

/** @satisfies {Millrace.Valves} */
export const valves = { turns: { type: "integer", default: 1 } };

/** @type {Millrace.Stream<typeof valves>} */
export function stream(chunk, { valves }) {
  process.exit(valves.tunrs);
  fetch("https://example.com");
  chunk.created = "now";
}

/** @satisfies {Millrace.Inlet<typeof valves>} */
export const inlet = async (body, { host }) => {
  await host.storage.keys();
  return body;
};
