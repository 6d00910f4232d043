import { expect, it } from "vitest";
import { requireUserVariables } from "./user-variables.ts";

it.each(["city", "_x", "A1", "a".repeat(64)])("accepts the name %s", (name) => {
  expect(requireUserVariables({ [name]: "value" })).toEqual({ [name]: "value" });
});

it.each(["", "1a", "a b", "a.b", "a-b", "{{x}}", "ä", "a|b", "a".repeat(65)])(
  "refuses the name %j",
  (name) => {
    expect(() => requireUserVariables({ [name]: "value" })).toThrowError(
      expect.objectContaining({ code: "invalid" }),
    );
  },
);

it("bounds how many and how long they are", () => {
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`v${at}`, ""]));
  expect(() => requireUserVariables(many)).toThrowError(/At most 200/);
  expect(() => requireUserVariables({ a: "x".repeat(10_001) })).toThrowError(/longer/);
});
