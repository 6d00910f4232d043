import { afterAll, describe, expect, it } from "vitest";
import { limits } from "./limits.ts";
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
      const lazyMembers = { notes: () => '{"seen":["\\t\\n"],"__proto__":{"x":1}}', model: () => "null" };
      const options = { args: [7, { id: "a" }], lazyMembers, isHook, id: `later ${isHook}` };
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

  it("makes only what a short call reads, and each of it once", async () => {
    const made: string[] = [];
    const lazyMembers = {
      notes: () => `{"made":${made.push("notes")}}`,
      model: () => `{"made":${made.push("model")}}`,
    };
    const source = `export const f = (body, ctx) => body && [ctx.notes, ctx.notes, Object.create(ctx).notes];`;
    const call = (body: number) => run(source, { args: [body, {}], lazyMembers, isHook: true, id: "reads" });
    expect(await call(0)).toBe(0);
    expect(made).toEqual([]);
    expect(await call(1)).toEqual([{ made: 1 }, { made: 1 }, { made: 1 }]);
    expect(made).toEqual(["notes"]);
  });

  it("begins again on a thread where one is too long for the event loop", async () => {
    const notes = JSON.stringify("x".repeat(limits.inlineLength));
    const source = `export const f = (body, ctx) => { try { return ctx.notes.length; } catch (error) { return error.message; } };`;
    const options = { args: [0, {}], lazyMembers: { notes: () => notes }, isHook: true, id: "long" };
    expect(await run(source, options)).toBe(limits.inlineLength);
  });

  it("answers nothing of a call that is over", async () => {
    const source = `let kept; export const f = (body, ctx) => {
      try { return kept ? kept.notes : "kept"; } catch (error) { return error.message; } finally { kept ??= ctx; }
    };`;
    const options = { args: [0, {}], lazyMembers: { notes: () => "1" }, isHook: true, id: "kept" };
    expect(await run(source, options)).toBe("kept");
    expect(await run(source, options)).toBe(
      "ctx.notes cannot be read here: it is too long, or the call is over.",
    );
  });
});
