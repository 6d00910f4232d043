import { afterAll, describe, expect, it } from "vitest";
import { parseResult } from "../host/call-result.ts";
import { SandboxError } from "#kernel/sandbox.ts";
import { openBench } from "../testing.ts";

// Code may change what its language is made of. What it answers is told to the host in lists that it must not get hold of,
// and whatever came all the same must end in an error of that call.
const { run, sandbox } = openBench();
afterAll(() => sandbox.close());

const long = "word ".repeat(100);
const body = { messages: [{ role: "user", content: long }] };

/** Code that writes over what is added to any list of its realm. */
const meddle = (value: string) => `
  for (let at = 0; at < 12; at++) {
    Object.defineProperty(Array.prototype, at, {
      set(given) { Object.defineProperty(this, at, { value: ${value}, writable: true, enumerable: true, configurable: true }); },
      configurable: true,
    });
  }`;

describe.each(["", "async "])("an answer of a(n %s) hook", (kind) => {
  it.each(["'not json'", "-2", "'fail'", "{}", "Infinity", "null"])(
    "is told as it is, though lists take %s for everything",
    async (value) => {
      const source = `${meddle(value)}
        export ${kind}function f(body) { return { messages: body.messages, seen: body.messages[0].content.length }; }`;
      for (let n = 0; n < 3; n++) {
        const call = run(source, { id: `list ${kind}${value}`, args: [body, {}], isHook: true });
        expect(await call).toEqual({ ...body, seen: long.length });
      }
    },
  );

  it("ends with an error where keys that would become prototypes come again and again", async () => {
    const source = `
      let deep = "1";
      for (let n = 0; n < 150; n++) deep = '{"__proto__":' + deep + "}";
      let at = 0;
      // Once for each time that the answer is written.
      Object.prototype.toJSON = function () { return at++ % 150 === 0 ? JSON.parse(deep) : this; };
      export ${kind}function f() { at = 0; return {}; }`;
    for (const isHook of [true, false]) {
      await expect(run(source, { id: `deep ${kind}`, args: [body, {}], isHook })).rejects.toMatchObject({
        name: "SandboxError",
        kind: "value",
        message: "A value with such keys cannot be handed over.",
      });
    }
  });

  it("has no key that would become a prototype, however it is made", async () => {
    const source = `
      const { parse } = JSON;
      JSON.parse = (text) => parse(text);
      Object.defineProperty(Object.prototype, "toJSON", {
        configurable: true,
        get() { return () => parse('{"__proto__":{"polluted":1},"kept":1}'); },
      });
      export ${kind}function f() { return { a: 1 }; }`;
    const answer = await run(source, { id: `key ${kind}`, args: [body, {}], isHook: true }).catch(
      (error: unknown) => error,
    );
    expect(answer instanceof SandboxError || !Object.hasOwn(answer as object, "__proto__")).toBe(true);
    expect((answer as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

it("an answer that cannot be read is an error", () => {
  const realm = {
    toReported: (_kind: unknown, text: string | undefined) => JSON.parse(String(text)) as never,
  };
  for (const kind of ["done", "fail", "value"]) {
    const { failure, answer } = parseResult(realm, { kind, text: "{" });
    expect([failure?.kind, answer]).toEqual(["value", undefined]);
  }
});
