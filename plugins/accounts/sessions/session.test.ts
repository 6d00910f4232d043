import { generateKeyPairSync } from "node:crypto";
import { SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createSessionTokens } from "./session.ts";

const secret = "a secret for tests that is long enough";
const key = new TextEncoder().encode(secret);
const start = { userId: "u1", stamp: "s1", method: "password" } as const;
const tokens = createSessionTokens({ secret, lifetime: () => 60 });
const now = Math.floor(Date.now() / 1000);
const claims = {
  id: "u1",
  jti: "j1",
  typ: "session",
  auth_method: "password",
  auth_time: now,
  session_stamp: "s1",
};

it("signs what it later accepts, with every claim", async () => {
  const { token, jti, expiresAt } = await tokens.sign(start);
  const read = await tokens.verify(token);
  expect(read).toMatchObject({
    id: "u1",
    jti,
    exp: expiresAt,
    typ: "session",
    auth_method: "password",
    session_stamp: "s1",
  });
  expect(read.exp).toBe(read.iat + 60);
  expect(read.auth_time).toBe(read.iat);
  expect(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString())).toEqual({
    alg: "HS256",
    typ: "JWT",
  });
});

it("leaves exp out when sessions never end", async () => {
  const forever = createSessionTokens({ secret, lifetime: () => null });
  const { token, expiresAt } = await forever.sign(start);
  expect(expiresAt).toBeNull();
  expect((await forever.verify(token)).exp).toBeUndefined();
});

describe("refuses", () => {
  const sign = (
    payload: object,
    header: { alg: string; kid?: string } = { alg: "HS256" },
    by: Uint8Array = key,
  ) =>
    new SignJWT({ ...payload })
      .setProtectedHeader(header)
      .setIssuedAt(now)
      .setExpirationTime(now + 60)
      .sign(by);
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

  it.each([
    [
      "an unsigned token",
      async () => new UnsecuredJWT({ ...claims }).setIssuedAt().setExpirationTime("1h").encode(),
    ],
    ["another algorithm with the same secret", () => sign(claims, { alg: "HS512" })],
    [
      "an asymmetric signature",
      () => new SignJWT({ ...claims }).setProtectedHeader({ alg: "RS256" }).setIssuedAt().sign(privateKey),
    ],
    [
      "another secret",
      () => sign(claims, { alg: "HS256" }, new TextEncoder().encode("another secret that is long enough")),
    ],
    ["a named key", () => sign(claims, { alg: "HS256", kid: "1" })],
    [
      "an expired token",
      () =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ alg: "HS256" })
          .setIssuedAt(now - 100)
          .setExpirationTime(now - 1)
          .sign(key),
    ],
    ["another kind of token", () => sign({ ...claims, typ: "automation" })],
    ["a token without a stamp", () => sign({ ...claims, session_stamp: undefined })],
    ["an account that is no text", () => sign({ ...claims, id: 7 })],
    ["no token at all", async () => "garbage"],
    ["an empty text", async () => ""],
  ])("%s", async (_name, make) => {
    await expect(tokens.verify(await make())).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("a token that was touched", async () => {
    const { token } = await tokens.sign(start);
    const [header, , signature] = token.split(".");
    const forged = Buffer.from(JSON.stringify({ ...claims, id: "u2" })).toString("base64url");
    await expect(tokens.verify(`${header}.${forged}.${signature}`)).rejects.toMatchObject({
      code: "unauthenticated",
    });
  });
});
