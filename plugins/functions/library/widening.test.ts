import { expect, it } from "vitest";
import { toWidened } from "./widening.ts";

const none = { fetch: [], complete: false, storage: false };

it.each([
  [{}, {}, []],
  [{ fetch: ["a.test"] }, { fetch: ["a.test"] }, []],
  [{ fetch: ["a.test", "b.test"], complete: true }, { fetch: ["b.test"] }, []],
  [{ fetch: ["a.test"] }, { fetch: ["a.test", "b.test"] }, ["fetch: b.test"]],
  [{ fetch: ["*.a.test"] }, { fetch: ["x.a.test", "*.x.a.test"] }, []],
  [{ fetch: ["x.a.test"] }, { fetch: ["*.a.test"] }, ["fetch: *.a.test"]],
  [{ fetch: ["*.a.test"] }, { fetch: ["a.test", "xa.test"] }, ["fetch: a.test", "fetch: xa.test"]],
  [{ fetch: ["a.test:*"] }, { fetch: ["a.test", "a.test:8443"] }, []],
  [{ fetch: ["a.test"] }, { fetch: ["a.test:8443", "a.test:*"] }, ["fetch: a.test:8443", "fetch: a.test:*"]],
  [{ complete: true }, { storage: true }, ["storage"]],
  [{ storage: true }, { complete: true, storage: true }, ["complete"]],
])("%j to %j widens %j", (before, now, widened) => {
  expect(toWidened({ ...none, ...before }, { ...none, ...now })).toEqual(widened);
});
