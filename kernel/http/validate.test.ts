import { expect, test } from "vitest";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { validate, type ValidationEntry } from "./validate.ts";

const shape = z.object({
  name: z.string().max(5),
  age: z.int().optional(),
  account: z.object({ password: z.string().min(8) }).optional(),
  tags: z.array(z.string()).optional(),
});

function problemsOf(value: unknown): ValidationEntry[] {
  try {
    validate(shape, value, "body");
  } catch (error) {
    expect((error as AppError).code).toBe("unprocessable");
    return (error as AppError).detail as ValidationEntry[];
  }
  throw new Error("accepted");
}

test("what fits comes back parsed, without unknown keys", () => {
  expect(validate(shape, { name: "Ada", role: "admin" }, "body")).toEqual({ name: "Ada" });
});

test("each problem names where it is, and shows the rejected value", () => {
  expect(problemsOf({ name: "Ada", age: "x", tags: ["a", 1] })).toEqual([
    expect.objectContaining({ loc: ["body", "age"], input: "x" }),
    expect.objectContaining({ loc: ["body", "tags", 1], input: 1 }),
  ]);
  expect(problemsOf(null)).toEqual([expect.objectContaining({ loc: ["body"], input: null })]);
});

test("a rejected secret and a long value do not come back", () => {
  const [secret] = problemsOf({ name: "Ada", account: { password: "hunter2" } });
  expect(secret).toMatchObject({ loc: ["body", "account", "password"] });
  expect(JSON.stringify(secret)).not.toContain("hunter2");
  const [long] = problemsOf({ name: "x".repeat(201) });
  expect(long).toHaveProperty("input", null);
});

test("a thousand problems are told as fifty", () => {
  expect(problemsOf({ name: "Ada", tags: Array.from({ length: 1000 }, () => 1) })).toHaveLength(50);
});

test("a path that leads through nothing is no failure of its own", () => {
  const strict = z
    .object({ a: z.object({ b: z.string() }) })
    .refine(() => false, { path: ["a", "c", "d"], message: "no" });
  expect(() => validate(strict, { a: { b: "x" } }, "query")).toThrow(AppError);
});

test("a value that is none of several kinds hears which, and an entry of the kind that it is hears what is wrong", () => {
  const input = z.object({ input: z.union([z.string(), z.array(z.string())]) });
  const messageOf = (value: unknown) => {
    try {
      validate(input, { input: value }, "body");
    } catch (error) {
      const [{ loc, msg }] = (error as AppError).detail as [ValidationEntry];
      return `${loc.join(".")}: ${msg}`;
    }
    throw new Error("accepted");
  };
  expect(messageOf(5)).toBe("body.input: Invalid input: expected string or array, received number");
  expect(messageOf(undefined)).toBe(
    "body.input: Invalid input: expected string or array, received undefined",
  );
  expect(messageOf(["a", 5])).toBe("body.input.1: Invalid input: expected string, received number");
  const own = z.object({ input: z.union([z.string(), z.boolean()], "must be a text or a switch") });
  expect(() => validate(own, { input: 5 }, "body")).toThrow(
    expect.objectContaining({ detail: [expect.objectContaining({ msg: "must be a text or a switch" })] }),
  );
});

test("a limit is told with its number and with what the value has", () => {
  const limits = z.object({
    name: z.string().min(1).max(1_000).optional(),
    password: z.string().min(8).optional(),
    one: z.string().max(1).optional(),
    tags: z.array(z.string()).max(2).optional(),
    count: z.number().min(1).lt(10).optional(),
    own: z.string().max(2, "is a country of two letters").optional(),
  });
  const messageOf = (value: object) => {
    try {
      validate(limits, value, "body");
    } catch (error) {
      return ((error as AppError).detail as ValidationEntry[]).map(({ msg }) => msg).join("; ");
    }
    throw new Error("accepted");
  };
  // Emoji are counted as fields count them: as one character each.
  expect(messageOf({ name: "🌊".repeat(1_200) })).toBe("Must be at most 1,000 characters; this has 1,200");
  expect(messageOf({ name: "" })).toBe("Must not be empty");
  expect(messageOf({ password: "abc" })).toBe("Must be at least 8 characters; this has 3");
  expect(messageOf({ one: "ab" })).toBe("Must be at most 1 character; this has 2");
  expect(messageOf({ tags: ["a", "b", "c"] })).toBe("Must have at most 2 entries; this has 3");
  expect(messageOf({ count: 0 })).toBe("Must be at least 1");
  expect(messageOf({ count: 10 })).toBe("Must be less than 10");
  expect(messageOf({ own: "abc" })).toBe("is a country of two letters");
});
