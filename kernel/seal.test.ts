import { expect, test } from "vitest";
import { createSeal, isSealed } from "./seal.ts";

const seal = createSeal("a secret key of this installation", "valves");

test("a sealed value tells nothing and opens where it was put", () => {
  const sealed = seal.seal({ key: "tell-nobody" }, "function:one");
  expect(isSealed(sealed)).toBe(true);
  expect(Buffer.from(sealed.slice(10), "base64url").toString("latin1")).not.toContain("tell-nobody");
  expect(seal.open(sealed, "function:one")).toEqual({ key: "tell-nobody" });
  expect(seal.seal(1, "x")).not.toBe(seal.seal(1, "x"));
});

test("it opens nowhere else, with no other key, for no other purpose and not when it was changed", () => {
  const sealed = seal.seal("value", "function:one");
  const refusal = expect.objectContaining({ code: "unavailable" });
  expect(() => seal.open(sealed, "function:two")).toThrow(refusal);
  expect(() => createSeal("another secret key", "valves").open(sealed, "function:one")).toThrow(refusal);
  expect(() => createSeal("a secret key of this installation", "x").open(sealed, "function:one")).toThrow(
    refusal,
  );
  expect(() => seal.open(`${sealed.slice(0, -4)}AAAA`, "function:one")).toThrow(refusal);
  expect(() => seal.open("sealed:v1:", "function:one")).toThrow(refusal);
});
