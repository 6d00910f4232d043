import * as bcrypt from "@node-rs/bcrypt";
import { describe, expect, it } from "vitest";
import { createPasswords } from "./passwords.ts";

describe.each(["bcrypt", "argon2"] as const)("%s", (algorithm) => {
  const passwords = createPasswords({ algorithm, hashCost: 4 });

  it("accepts the password it hashed and no other", async () => {
    const hash = await passwords.hash("correct horse");
    expect(hash.startsWith(algorithm === "bcrypt" ? "$2" : "$argon2id$")).toBe(true);
    expect(await passwords.verify("correct horse", hash)).toBe(true);
    expect(await passwords.verify("correct horsf", hash)).toBe(false);
    expect(await passwords.verify("", hash)).toBe(false);
  });

  it("checks against something when there is no account, and says no", async () => {
    expect(await passwords.verify("anything", undefined)).toBe(false);
  });

  it.each(["", "7 signs", "😀😀😀😀😀😀😀"])(
    "refuses %j, which is shorter than 8 characters",
    async (short) => {
      await expect(passwords.hash(short)).rejects.toMatchObject({
        code: "invalid",
        message: "The password must have at least 8 characters.",
      });
    },
  );

  it("takes a broken stored hash for a wrong password", async () => {
    expect(await passwords.verify("x", "not a hash")).toBe(false);
    expect(await passwords.verify("x", "$argon2id$broken")).toBe(false);
  });
});

describe("the limit of bcrypt", () => {
  const long = "ä".repeat(36); // 72 bytes

  it("counts bytes, not characters", async () => {
    const { requireAcceptable } = createPasswords({ algorithm: "bcrypt", hashCost: 4 });
    requireAcceptable(long);
    expect(() => requireAcceptable(`${long}a`)).toThrow("72 bytes");
    createPasswords({ algorithm: "argon2" }).requireAcceptable(`${long}a`);
  });

  it("does not let a longer password pass for its first 72 bytes", async () => {
    const { hash, verify } = createPasswords({ algorithm: "bcrypt", hashCost: 4 });
    const stored = await hash(long);
    expect(await verify(long, stored)).toBe(true);
    expect(await verify(`${long}more`, stored)).toBe(false);
  });
});

it("keeps verifying hashes of the other algorithm", async () => {
  const old = await createPasswords({ algorithm: "bcrypt", hashCost: 4 }).hash("from before");
  expect(await createPasswords({ algorithm: "argon2" }).verify("from before", old)).toBe(true);
  const newer = await createPasswords({ algorithm: "argon2" }).hash("from later");
  expect(await createPasswords({ algorithm: "bcrypt", hashCost: 4 }).verify("from later", newer)).toBe(true);
});

it("keeps verifying bcrypt hashes of other makers", async () => {
  const { verify } = createPasswords({ algorithm: "bcrypt", hashCost: 4 });
  for (const version of ["2a", "2b", "2y"] as const) {
    // They differ in name alone for passwords that are plain text.
    const hash = (await bcrypt.hash("imported", 4)).replace(/^\$2\w/, () => `$${version}`);
    expect(await verify("imported", hash)).toBe(true);
  }
});

it("holds new passwords to the rule and tells the hint", () => {
  const rule = { pattern: /^(?=.*\d).{8,}$/u, hint: "eight characters, one of them a digit" };
  const { requireAcceptable } = createPasswords({ algorithm: "bcrypt", hashCost: 4, rule: () => rule });
  expect(() => requireAcceptable("short1")).toThrow(rule.hint);
  expect(() => requireAcceptable("long enough")).toThrow(rule.hint);
  requireAcceptable("long enough 1");
});

it("goes on after a failed turn, whatever waits", async () => {
  const { hash } = createPasswords({ algorithm: "argon2" });
  const outcomes = await Promise.allSettled(
    ["a", "", "b", "", "c", "d"].map((text) => hash(text && `${text} password`)),
  );
  expect(outcomes.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
});
