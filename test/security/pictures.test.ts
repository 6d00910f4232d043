import { describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
let app: App;
let user: TestUser;
let victim: TestUser;
let upstream: Upstream;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  app = await keep(startApp({ env: { REQUEST_BODY_MAX_BYTES: "8000000" } }));
  [user, victim] = [await app.user(), await app.user()];
});

const profile = (extra: object) =>
  user.call("POST /api/v1/auths/update/profile", { name: "Person", profile_image_url: "", ...extra });

describe("a profile image", () => {
  const picture = (headers: Record<string, string> = {}) =>
    victim.call(`GET /api/v1/users/${user.id}/profile/image`, undefined, headers);

  it.each([
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=",
    "data:image/png,<svg onload=alert(1)>",
    "data:image/png;base64,PHN2Zz4=",
    "//evil.example/x",
    "/\\evil.example",
    "file:///etc/passwd",
    "ftp://evil.example",
    "https://user:pass@evil.example/",
    "vbscript:x",
    `https://evil.example/${"a".repeat(3000)}`,
    "/a\r\nset-cookie: a=b",
  ])("%j is refused", async (url) => {
    expect([400, 413]).toContain((await profile({ profile_image_url: url })).status);
  });

  it("is never fetched by the server (S79)", async () => {
    expect((await profile({ profile_image_url: `${upstream.origin}/picture.png` })).status).toBe(200);
    expect((await picture()).headers.get("location")).toBe(`${upstream.origin}/picture.png`);
    expect(upstream.requests).toEqual([]);
  });

  it("sends a picture elsewhere, but no visitor: it is no open redirect", async () => {
    await profile({ profile_image_url: "https://evil.example/login" });
    expect((await picture({ "sec-fetch-dest": "image" })).status).toBe(302);
    for (const dest of ["document", "iframe", "frame", "object", "embed", "script", "style", "worker"]) {
      const answer = await picture({ "sec-fetch-dest": dest });
      expect([
        dest,
        answer.status,
        answer.headers.get("content-type"),
        answer.headers.get("location"),
      ]).toEqual([dest, 200, "image/png", null]);
    }
    expect((await app.call(`GET /api/v1/users/${user.id}/profile/image`)).status).toBe(401);
  });

  it("is answered so that nothing in it runs (S83)", async () => {
    await profile({ profile_image_url: pixel });
    const { headers } = await picture();
    expect([
      headers.get("content-type"),
      headers.get("content-security-policy"),
      headers.get("x-content-type-options"),
    ]).toEqual(["image/png", "default-src 'none'; sandbox", "nosniff"]);
  });

  it.each([
    [4_000_000, 200],
    [7_000_000, 200],
    [9_000_000, 413],
  ])(
    "of %i characters is bounded by the size of a request alone, and answered with %i",
    async (length, status) => {
      const sent = await profile({ profile_image_url: `${pixel.slice(0, -4)}${"A".repeat(length)}` });
      expect(sent.status).toBe(status);
      await profile({ profile_image_url: "" });
    },
  );
});
