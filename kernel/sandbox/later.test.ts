import { afterAll, describe, expect, it } from "vitest";
import { openBench } from "./testing.ts";

const { sandbox, run } = openBench();
afterAll(() => sandbox.close());

describe("a context with members that are parsed when they are read", () => {
  it.each([false, true])(
    "parses what is given for later when the code reads it (as a hook: %s)",
    async (isHook) => {
      const source = `export function f(body, ctx) {
      let refused = "";
      try { ctx.notes = 1; } catch (error) { refused = error.name; }
      ctx.notes.seen.push(body);
      return { same: ctx.notes === ctx.notes, copy: { ...ctx }, keys: Object.keys(ctx), refused, text: JSON.stringify(ctx) };
    }`;
      const later = { notes: '{"seen":["\\t\\n"],"__proto__":{"x":1}}', model: "null" };
      const options = { args: [7, { id: "a" }], later, isHook, id: `later ${isHook}` };
      for (let n = 0; n < 2; n++) {
        // Each call has its own.
        expect(await run(source, options)).toMatchObject({
          same: true,
          copy: { id: "a", notes: { seen: ["\t\n", 7] }, model: null },
          keys: ["id", "notes", "model"],
          refused: "TypeError",
          text: expect.stringContaining('"notes":{"seen":["\\t\\n",7]'),
        });
      }
    },
  );
});
