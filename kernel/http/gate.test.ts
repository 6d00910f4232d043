import { describe, expect, test } from "vitest";
import type { Principal, Role } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { requireAccess, requireSameOrigin, resolveCaller } from "./gate.ts";
import { defineRoute, type RequestInfo, type RouteAccess } from "./route.ts";

function principal(role: Role, permissions: Principal["permissions"] = {}): Principal {
  return {
    userId: "u",
    role,
    name: "",
    email: "",
    groupIds: [],
    permissions,
    credential: "session",
    session: null,
  };
}

const routeWith = (access: RouteAccess) =>
  defineRoute({ method: "GET", path: "/x", summary: "X", access }, () => null);

function codeOf(run: () => unknown): string {
  try {
    run();
    return "ok";
  } catch (error) {
    return (error as AppError).code;
  }
}

describe("access", () => {
  const holder = principal("user", { features: { notes: true } });
  const pendingHolder = principal("pending", { features: { notes: true } });
  test.each<[RouteAccess, Principal | undefined, string]>([
    ["public", undefined, "ok"],
    ["account", undefined, "unauthenticated"],
    ["account", principal("pending"), "ok"],
    ["user", undefined, "unauthenticated"],
    ["user", principal("pending"), "forbidden"],
    ["user", principal("user"), "ok"],
    ["admin", principal("user"), "forbidden"],
    ["admin", principal("admin"), "ok"],
    ["permission:features.notes", principal("user"), "forbidden"],
    ["permission:features.notes", holder, "ok"],
    ["permission:features.notes", pendingHolder, "forbidden"],
    ["permission:features.notes", principal("admin"), "ok"],
  ])("%s for %j is %s", (access, caller, outcome) => {
    expect(codeOf(() => requireAccess(routeWith(access), caller))).toBe(outcome);
  });
});

describe("the caller", () => {
  const info = { method: "GET", url: "/x?token=1", address: "127.0.0.1" } as never;
  const credential = { value: "t", source: "bearer" } as const;
  const known = principal("user");
  const resolve = (
    access: RouteAccess,
    answer: () => Principal,
    shown: typeof credential | undefined = credential,
  ) =>
    resolveCaller({
      route: routeWith(access),
      credential: shown,
      info,
      authenticator: { keyHeader: () => "x-api-key", authenticate: answer, onChange: () => {} },
    });
  const refuse = (code: "unauthenticated" | "forbidden" | "unavailable") => () => {
    throw new AppError(code, "no");
  };

  test("is whom the credential belongs to, and nobody without one on public routes", async () => {
    expect(await resolve("user", () => known)).toBe(known);
    expect(await resolve("public", () => known)).toBe(known);
    expect(
      await resolveCaller({
        route: routeWith("public"),
        credential: undefined,
        info,
        authenticator: {} as never,
      }),
    ).toBeUndefined();
  });

  test("is nobody on a public route when the credential is no good", async () => {
    expect(await resolve("public", refuse("unauthenticated"))).toBeUndefined();
    expect(await resolve("public", refuse("forbidden"))).toBeUndefined();
  });

  test("cannot be told while the database is away, on public routes too", async () => {
    await expect(resolve("public", refuse("unavailable"))).rejects.toThrow(AppError);
  });

  test("is refused elsewhere", () => {
    expect(() => resolve("user", refuse("forbidden"))).toThrow("no");
  });
});

test.each<[string, string | undefined, string]>([
  ["POST", undefined, "ok"],
  ["POST", "http://chat.example.test", "ok"],
  ["POST", "https://chat.example.test", "ok"],
  ["POST", "https://friend.example.test", "ok"],
  ["POST", "https://evil.example.test", "forbidden"],
  ["POST", "https://chat.example.test.evil.test", "forbidden"],
  ["POST", "null", "forbidden"],
  ["DELETE", "https://evil.example.test", "forbidden"],
  ["GET", "https://evil.example.test", "ok"],
])("a cookie on %s from %s is %s", (method, origin, outcome) => {
  const host = "chat.example.test";
  const request = { method, host, headers: { host, origin } } as unknown as RequestInfo;
  expect(codeOf(() => requireSameOrigin(request, { origins: ["https://friend.example.test"] }))).toBe(
    outcome,
  );
});
