import { describe, expect, it } from "vitest";
import { ConfigRegistry } from "#config/registry.ts";
import { fitsPattern, readClaim, readList } from "./claims.ts";
import { oauthVariables } from "./config.ts";
import type { SignInFailure } from "./failure.ts";
import { findProvider } from "./providers.ts";
import { type Decision, toPerson } from "./rules.ts";

const base = { OPENID_PROVIDER_URL: "https://id.test", OAUTH_CLIENT_ID: "mill", MICROSOFT_CLIENT_ID: "mill" };

function read(claims: Record<string, unknown>, env: Record<string, string> = {}, id = "oidc") {
  const registry = new ConfigRegistry({ ...base, ...env }, { warn: () => undefined });
  const config = registry.declare("oauth", oauthVariables);
  const decisions: Decision[] = [];
  const provider = findProvider(config, id)!;
  try {
    const person = toPerson({ sub: "1", ...claims }, { provider, config }, (each) => decisions.push(each));
    return { person, decisions, word: undefined };
  } catch (error) {
    return { person: undefined, decisions, word: (error as SignInFailure).word };
  }
}

describe("claims", () => {
  it("are reached by dots, and by their whole name first", () => {
    expect(readClaim({ realm: { roles: ["a"] } }, "realm.roles")).toEqual(["a"]);
    expect(readClaim({ "https://mill.test/roles": "a" }, "https://mill.test/roles")).toBe("a");
    expect(readClaim({ realm: "a" }, "realm.roles")).toBeUndefined();
    expect(readClaim({}, "constructor.name")).toBeUndefined();
    expect(readClaim({}, "__proto__")).toBeUndefined();
  });
  it.each([
    [
      ["a", " b ", "", 3, {}, "a"],
      ["a", "b", "3"],
    ],
    ["a;b; ;c", ["a", "b", "c"]],
    ["a,b", ["a,b"]],
    [undefined, undefined],
    [null, undefined],
    [[], []],
  ])("%j is the list %j", (value, list) => {
    expect(readList({ groups: value }, "groups", ";")).toEqual(list);
  });
  it.each([
    ["Sealed", "seal*", true],
    ["Sealed", "seal?", false],
    ["a.b", "a?b", true],
    ["a+b", "a.b", false],
    ["xaxbxc", "*a*b*c", true],
    ["", "*", true],
    [`${"a".repeat(5000)}b`, `${"a*".repeat(50)}c`, false],
  ])("%s against %s: %s", (name, pattern, fits) => {
    expect(fitsPattern(name, [pattern])).toBe(fits);
  });
});

describe("roles", () => {
  const env = {
    ENABLE_OAUTH_ROLE_MANAGEMENT: "true",
    OAUTH_ALLOWED_ROLES: "staff",
    OAUTH_ADMIN_ROLES: "boss",
  };
  it.each([
    ["boss", "admin"],
    [["staff", "boss"], "admin"],
    ["guest,staff", "user"],
    [["guest"], undefined],
    [undefined, undefined],
  ])("%j makes %s", (roles, role) => {
    const { person, word } = read({ email: "a@mill.test", roles }, env);
    expect([person?.identity.role, word]).toEqual([role, role === undefined ? "role" : undefined]);
  });
});

describe("addresses", () => {
  it("of a domain count only where the provider does not deny them", () => {
    const env = { OAUTH_ALLOWED_DOMAINS: "mill.test" };
    expect(read({ email: "a@MILL.test" }, env).person?.identity.email).toBe("a@mill.test");
    expect(read({ email: "a@mill.test", email_verified: false }, env).word).toBe("address_unverified");
    expect(read({ email: "a@mill.test.evil.test", email_verified: true }, env).word).toBe("domain");
    expect(read({ email: "a@mill.test@evil.test", email_verified: true }, env).word).toBe("domain");
  });
  it("of Microsoft are verified by one tenant, or by its claim, and by no tenant that is open", () => {
    const verified = (tenant: string, claims = {}) =>
      read({ email: "a@mill.test", ...claims }, { MICROSOFT_CLIENT_TENANT_ID: tenant }, "microsoft").person
        ?.emailVerified;
    expect(verified("0d1f7cc4-0000-4000-8000-000000000000")).toBe(true);
    expect(verified("common")).toBe(false);
    expect(verified("Organizations")).toBe(false);
    expect(verified("common", { xms_edov: "1" })).toBe(true);
    expect(verified("mill", { email_verified: false })).toBe(false);
  });
  it("are never replaced by ones that are not verified", () => {
    const env = { OAUTH_UPDATE_EMAIL_ON_LOGIN: "true" };
    expect(read({ email: "a@mill.test", email_verified: false }, env).person?.identity.updates?.email).toBe(
      false,
    );
    expect(read({ email: "a@mill.test", email_verified: true }, env).person?.identity.updates?.email).toBe(
      true,
    );
  });
  it("are made up of the person's name at the provider, where there is none", () => {
    const env = { ENABLE_OAUTH_WITHOUT_EMAIL: "true" };
    expect(read({ sub: "Ada-1" }, env).person?.identity.email).toBe("oidc@ada-1.local");
    expect(read({ sub: "auth0|x y" }, env).person?.identity.email).toMatch(/^oidc@[0-9a-f]{32}\.local$/);
    expect(read({}).word).toBe("no_email");
  });
});

it("a person is told apart by the claim that is set, and by none other", () => {
  expect(read({ email: "a@mill.test", oid: "o-1" }, { OAUTH_SUB_CLAIM: "oid" }).person?.subject).toBe("o-1");
  expect(read({ email: "a@mill.test" }, { OAUTH_SUB_CLAIM: "oid" }).word).toBe("provider");
});

it("settings that would break a sign-in are refused by name", () => {
  expect(() => read({}, { OAUTH_AUTHORIZE_PARAMS: '{"state": "x"}' })).toThrow("must not set state");
  expect(() => read({}, { OPENID_PROVIDER_URL: "id.test" })).toThrow("OPENID_PROVIDER_URL");
});
