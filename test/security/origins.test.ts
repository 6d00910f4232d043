import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { routesOf } from "../support/probe.ts";

const friend = "https://friend.example";
const stranger = "https://stranger.example";
let app: App;
let user: TestUser;
let own: string;

beforeAll(async () => {
  app = await startApp({ env: { CORS_ALLOW_ORIGIN: friend } });
  user = await app.user();
  own = new URL(app.url).origin;
});
afterAll(() => app?.close());

const update = (headers: Record<string, string>) =>
  app.call("POST /api/v1/users/user/info/update", { body: { seen: true }, headers });

describe("the session cookie", () => {
  it.each([
    "https://stranger.example",
    "null",
    "http://localhost",
    "https://friend.example.stranger.example",
    "https://xfriend.example",
  ])("does not let %s change anything", async (origin) => {
    expect((await update({ cookie: `token=${user.token}`, origin })).status).toBe(403);
  });

  it("works for this site and for named origins", async () => {
    expect((await update({ cookie: `token=${user.token}`, origin: own })).status).toBe(200);
    expect((await update({ cookie: `token=${user.token}`, origin: friend })).status).toBe(200);
  });

  it("is refused on every route that changes something, whatever its method", async () => {
    const unsafe = routesOf(app).filter(
      ({ route }) => route.access !== "public" && !["GET", "HEAD"].includes(route.method),
    );
    const bases: Record<string, string> = {
      main: "",
      api: "/api/v1",
      compat: "/compat",
      scim: "/api/v1/scim/v2",
    };
    const passed: string[] = [];
    for (const { surface, route } of unsafe) {
      const path =
        (bases[surface] ?? `/${surface}`) +
        route.path.replaceAll(/\*\*:\w+|:\w+/g, "00000000-0000-4000-8000-000000000000");
      const { status, text } = await app.call(`${route.method} ${path}`, {
        headers: { cookie: `token=${user.token}`, origin: stranger },
      });
      if (status !== 403 || !text.includes("from this site only")) {
        passed.push(`${route.method} ${path}: ${status}`);
      }
    }
    expect(unsafe.length).toBeGreaterThan(30);
    expect(passed).toEqual([]);
  });

  it("signs out for this site's pages alone, also by GET", async () => {
    const { body } = await app.call("POST /api/v1/auths/signin", {
      body: { email: user.email, password: "Correct-horse-1" },
    });
    const cookie = `token=${body.token}`;
    const signOut = async (headers: Record<string, string>) =>
      (await app.call("GET /api/v1/auths/signout", { headers: { cookie, ...headers } })).status;
    expect(await signOut({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).toBe(403);
    expect(await signOut({ "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" })).toBe(403);
    expect(await signOut({ "sec-fetch-site": "same-site" })).toBe(403);
    expect(await signOut({ origin: stranger })).toBe(403);
    expect((await app.call("GET /api/v1/auths/", { headers: { cookie } })).status).toBe(200);
    expect(await signOut({ "sec-fetch-site": "same-origin" })).toBe(200);
    expect((await app.call("GET /api/v1/auths/", { headers: { cookie } })).status).toBe(401);
  });

  it("does not matter to a request that brings its own credential", async () => {
    expect((await update({ authorization: `Bearer ${user.token}`, origin: stranger })).status).toBe(200);
  });

  it("is out of reach of scripts and of other sites' requests", async () => {
    const { headers } = await app.call("POST /api/v1/auths/signin", {
      body: { email: user.email, password: "Correct-horse-1" },
    });
    expect(headers.getSetCookie()[0]).toMatch(/^token=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
  });
});

describe("behind a proxy that passes its own host", () => {
  const page = "https://chat.example:8443";
  const forwarded = { "x-forwarded-host": "chat.example:8443", "x-forwarded-proto": "https" };
  const started = async (env: Record<string, string>, check: (app: App, token: string) => Promise<void>) => {
    const behind = await startApp({ env });
    try {
      await check(behind, (await behind.admin()).token);
    } finally {
      await behind.close();
    }
  };
  const write = async (at: App, token: string, headers: Record<string, string>) =>
    (
      await at.call("POST /api/v1/users/user/info/update", {
        body: {},
        headers: { cookie: `token=${token}`, ...headers },
      })
    ).status;

  it("pages of the host that the proxy names are this site's", async () => {
    await started({}, async (behind, token) => {
      expect(await write(behind, token, { ...forwarded, origin: page })).toBe(200);
      expect(await write(behind, token, { ...forwarded, origin: stranger })).toBe(403);
      expect(await write(behind, token, { origin: page })).toBe(403);
      const { text } = await behind.call("GET /opensearch.xml", { headers: forwarded });
      expect(text).toContain(`template="${page}/?q={searchTerms}"`);
    });
  });

  it("nobody but a trusted proxy names the host", async () => {
    await started({ FORWARDED_ALLOW_IPS: "192.0.2.1" }, async (behind, token) => {
      expect(await write(behind, token, { ...forwarded, origin: page })).toBe(403);
      const { text } = await behind.call("GET /opensearch.xml", { headers: forwarded });
      expect(text).toContain(`template="${behind.url}/?q={searchTerms}"`);
    });
  });

  it("pages of WEBUI_URL are this site's, as soon as it is set", async () => {
    await started({}, async (behind, token) => {
      expect(await write(behind, token, { origin: page })).toBe(403);
      const body = { WEBUI_URL: `${page}/chat/` };
      expect((await behind.call("POST /api/v1/configs/settings", { token, body })).status).toBe(200);
      expect(await write(behind, token, { origin: page })).toBe(200);
      expect(await write(behind, token, { origin: stranger })).toBe(403);
    });
  });
});

describe("a form of a foreign site", () => {
  const form = JSON.stringify({ email: "admin@example.test", password: "Correct-horse-1", name: "x" });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/plain; application/json",
  ])("of type %s signs nobody in and up", async (type) => {
    for (const path of ["signin", "signup"]) {
      const answer = await app.call(`POST /api/v1/auths/${path}`, {
        body: form,
        headers: { origin: stranger, "content-type": type },
      });
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
  });

  it("is what is refused, not the client that declares its JSON or stands on this site", async () => {
    const json = await app.call("POST /api/v1/auths/signin", { body: form, headers: { origin: stranger } });
    const here = await app.call("POST /api/v1/auths/signin", {
      body: form,
      headers: { origin: own, "content-type": "text/plain" },
    });
    expect([json.status, here.status]).toEqual([200, 200]);
  });
});

describe("private JSON", () => {
  it.each([
    ["GET /api/v1/auths/", 200],
    ["GET /api/v1/chats/none", 404],
    ["GET /api/config", 200],
    ["GET /compat/models", 200],
  ])("is kept by no cache: %s", async (route, status) => {
    const answer = await user.call(route, undefined, { origin: friend });
    expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("vary")]).toEqual([
      status,
      "no-store",
      expect.stringMatching(/^Origin, Authorization, Cookie\b/),
    ]);
  });

  it("is told from what everybody may read", async () => {
    const answer = await app.call("GET /api/config");
    expect(answer.headers.get("cache-control")).toBeNull();
  });
});

describe("CORS", () => {
  it("lets named origins read with credentials, and others not at all", async () => {
    const ask = async (origin: string) =>
      (await app.call("GET /api/config", { headers: { origin } })).headers;
    const named = await ask(friend);
    expect([named.get("access-control-allow-origin"), named.get("access-control-allow-credentials")]).toEqual(
      [friend, "true"],
    );
    expect(named.get("vary")).toContain("Origin");
    for (const origin of [stranger, "null", `${friend}.evil`, friend.toUpperCase()]) {
      const headers = await ask(origin);
      expect([
        origin,
        headers.get("access-control-allow-origin"),
        headers.get("access-control-allow-credentials"),
      ]).toEqual([origin, null, null]);
    }
  });

  it("answers a preflight of a stranger without any permission", async () => {
    const answer = await app.call("OPTIONS /api/v1/users/user/info/update", {
      headers: {
        origin: stranger,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
      },
    });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("keeps saying that the answer depends on the origin when it is compressed", async () => {
    const { headers } = await app.call("GET /openapi.json", {
      headers: { origin: friend, "accept-encoding": "gzip" },
    });
    expect(headers.get("vary")).toBe("Origin, Accept-Encoding");
  });

  it("with a star never goes along with credentials", async () => {
    const open = await startApp({ env: { CORS_ALLOW_ORIGIN: "*" } });
    try {
      const { headers } = await open.call("GET /api/config", { headers: { origin: stranger } });
      expect([
        headers.get("access-control-allow-origin"),
        headers.get("access-control-allow-credentials"),
      ]).toEqual(["*", null]);
      const { token } = await open.admin();
      const answer = await open.call("POST /api/v1/users/user/info/update", {
        body: {},
        headers: { cookie: `token=${token}`, origin: stranger },
      });
      expect(answer.status).toBe(403);
    } finally {
      await open.close();
    }
  });
});
