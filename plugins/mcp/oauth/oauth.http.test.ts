import { describe, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import type { TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { type ProtectedServer, startProtectedServer } from "./protected-server.fixture.ts";

let stage: RunStage;
let vault: ProtectedServer;
let ann: TestUser;
let bob: TestUser;
const everyone = [{ principal_type: "user", principal_id: "*", permission: "read" }];

setUp(async (keep) => {
  vault = await keep(startProtectedServer());
  const connection = {
    type: "mcp",
    url: vault.url,
    auth_type: "oauth_2.1",
    info: { id: "vault", name: "Vault" },
    config: { enable: true, access_grants: everyone },
  };
  stage = await keep(
    startRunStage({
      env: {
        TOOL_SERVER_CONNECTIONS: JSON.stringify([connection]),
        OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
      },
    }),
  );
  [ann, bob] = [await stage.app.user(), await stage.app.user()];
});

const call = (route: string, { token }: TestUser, body?: unknown, headers = {}) =>
  stage.app.call(route, { token, headers, ...(body !== undefined && { body }) });
const specs = (user: TestUser) => call("GET /api/v1/tools/id/server:mcp:vault/specs", user);
const accountOf = async (user: TestUser) => (await call("GET /api/v1/auths/oauth/sessions", user)).body[0];

it("is named in the header of an answer over HTTP that went without it", async () => {
  const caller = await stage.app.user();
  const tool_ids = ["server:mcp:vault"];
  const body = { model: "alpha", messages: [{ role: "user", content: "Hi" }], tool_ids };
  stage.upstream.reply(text("Without it."));
  const answer = await call("POST /api/chat/completions", caller, body);
  expect([answer.status, answer.headers.get("x-service-ignored")]).toEqual([
    200,
    "tool_ids.server:mcp:vault",
  ]);
});

/** Starts a sign-in; the answer of the authorization server and the cookie that binds it to the browser. */
async function begin(user: TestUser, query = "") {
  const answer = await call(`GET /oauth/clients/mcp:vault/authorize${query}`, user);
  expect(answer.status, answer.text).toBe(302);
  const back = await vault.consent(answer.headers.get("location") ?? "");
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return {
    authorize: new URL(answer.headers.get("location") ?? ""),
    back,
    cookie,
    path: `GET ${back.pathname}${back.search}`,
  };
}

async function signIn(user: TestUser, query = "") {
  const { path, cookie } = await begin(user, query);
  return await call(path, user, undefined, { cookie });
}

/** A run of the person in which the model calls these tools in one round. */
async function run(user: TestUser, ...names: string[]) {
  const before = stage.upstream.requests.length;
  const calls = names.map((name, at) => ({ id: `c${at}`, name: `vault_${name}`, arguments: "{}" }));
  stage.upstream.reply("/chat/completions", sse(toolCallChunks(calls)));
  stage.upstream.reply("/chat/completions", text("Fine."));
  const body = {
    model: "alpha",
    stream: true,
    parent_id: null,
    session_id: "s",
    tool_ids: ["server:mcp:vault"],
    messages: [{ role: "user", content: "Hi" }],
  };
  const answer = await call("POST /api/chat/completions", user, body);
  await user.call(`GET /api/tasks/chat/${answer.body.chat_id}`);
  await expect.poll(() => stage.upstream.requests.length).toBeGreaterThanOrEqual(before + 2);
  const last = stage.upstream.requests.at(-1)!;
  return (last.body.messages as { role: string; content: string }[])
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
}

describe("a person who is not signed in", () => {
  it("is told so at once, without a request to the server", async () => {
    expect((await specs(ann)).status).toBe(401);
    expect(await accountOf(ann)).toMatchObject({
      provider: "mcp:vault",
      name: "Vault",
      state: "not_connected",
    });
    const { body } = await call("GET /api/v1/tools/", ann);
    expect(body).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: "server:mcp:vault", authenticated: false })]),
    );
  });

  it("signs in with PKCE and the server's name, and comes back to the page it came from", async () => {
    const { authorize } = await begin(ann);
    expect(Object.fromEntries(authorize.searchParams)).toMatchObject({
      code_challenge_method: "S256",
      resource: vault.url,
      scope: "read",
      redirect_uri: `${stage.app.url}/oauth/clients/mcp:vault/callback`,
    });
    const done = await signIn(ann, "?return=/c/chat-1");
    expect([done.status, done.headers.get("location")]).toEqual([303, "/c/chat-1?sign_in=done"]);
    expect(vault.resources.every((resource) => resource === vault.url)).toBe(true);
    expect(vault.counts.registered).toBe(1);
    expect((await specs(ann)).body.specs.map(({ name }: { name: string }) => name)).toEqual([
      "read",
      "write",
    ]);
    expect(await accountOf(ann)).toMatchObject({ state: "connected", since: expect.any(Number) });
    expect((await specs(bob)).status).toBe(401);
    expect(await run(ann, "read")).toEqual(["secret"]);
  });
});

describe("callbacks that do not belong to the person (S93)", () => {
  it("are refused: tampered, repeated, of another person, browser or place", async () => {
    const flow = await begin(bob);
    const tampered = flow.path.replace(/state=[^&]+/, "state=guessed");
    for (const [path, user, cookie] of [
      [tampered, bob, flow.cookie],
      [flow.path, ann, flow.cookie],
      [flow.path, bob, ""],
      [flow.path, bob, flow.cookie.replace(/=.*/, "=other")],
      [flow.path, bob, flow.cookie],
    ] as const) {
      const answer = await call(path, user, undefined, { cookie });
      expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    }
    expect((await stage.app.call(flow.path, { headers: { cookie: flow.cookie } })).status).toBe(400);
    expect((await specs(bob)).status).toBe(401);
    const good = await begin(bob);
    expect((await call(good.path, bob, undefined, { cookie: good.cookie })).status).toBe(303);
    expect((await call(good.path, bob, undefined, { cookie: good.cookie })).status).toBe(400);
  });

  it("never lead to another site, and metadata of another resource are refused", async () => {
    for (const path of ["https://evil.test", "//evil.test", "/\\evil.test"]) {
      const answer = await call(
        `GET /oauth/clients/mcp:vault/authorize?return=${encodeURIComponent(path)}`,
        bob,
      );
      expect(answer.status).toBe(422);
    }
    vault.claimedResource = "https://other.example/mcp";
    expect((await call("GET /oauth/clients/mcp:vault/authorize", bob)).status).toBe(400);
    vault.claimedResource = undefined;
    expect((await call("GET /oauth/clients/mcp:nothing/authorize", bob)).status).toBe(404);
  });
});

describe("tokens", () => {
  it("are renewed once for calls side by side, whether they ended or were refused", async () => {
    const { counts } = vault;
    counts.refreshed = 0;
    vault.expireAll();
    const answers = await run(ann, "read", "read", "read", "read");
    expect(answers.map((answer) => answer.split("\n")[0])).toEqual(Array(4).fill("secret"));
    expect(counts.refreshed).toBe(1);
  });

  it("lie encrypted in the database", async () => {
    const admin = await stage.app.admin();
    const { body } = await call(`GET /api/v1/users/${ann.id}/oauth/sessions`, admin);
    expect(body).toMatchObject([{ provider: "mcp:vault", user_id: ann.id }]);
    expect(JSON.stringify(body)).not.toMatch(/token/i);
    expect((await call(`GET /api/v1/users/${ann.id}/oauth/sessions`, ann)).status).toBe(403);
  });

  it("that lack a scope: the call says so, the person signs in for more, and the call works", async () => {
    expect(await run(ann, "write")).toEqual([
      expect.stringMatching(/^Error: "Vault" needs more of your permission.*authorize/),
    ]);
    expect(await accountOf(ann)).toMatchObject({ state: "needs_sign_in" });
    const flow = await begin(ann);
    expect(flow.authorize.searchParams.get("scope")).toBe("read write");
    await call(flow.path, ann, undefined, { cookie: flow.cookie });
    expect(await run(ann, "write")).toEqual(["written"]);
  });

  it("that cannot be renewed: the person is asked to sign in again (I49)", async () => {
    vault.expireAll();
    vault.refusesRefresh = true;
    expect((await specs(ann)).status).toBe(401);
    vault.refusesRefresh = false;
    expect(await accountOf(ann)).toMatchObject({ state: "not_connected" });
  });

  it("are taken back when the person disconnects", async () => {
    await signIn(ann);
    vault.counts.revoked = 0;
    expect((await call("DELETE /api/v1/auths/oauth/sessions/mcp:vault", ann)).body).toBe(true);
    expect(vault.counts.revoked).toBe(1);
    expect((await call("DELETE /api/v1/auths/oauth/sessions/mcp:vault", ann)).status).toBe(404);
    expect((await specs(ann)).status).toBe(401);
  });
});

it("registers for an administrator, and encrypts what it gets", async () => {
  const admin = await stage.app.admin();
  const path = "POST /api/v1/configs/oauth/clients/register?type=mcp";
  const dynamic = await call(path, admin, { url: vault.url, client_id: "vault", client_name: "House" });
  expect(dynamic.body).toMatchObject({ status: true, oauth_client_info: expect.stringMatching(/^sealed:/) });
  const fixed = await call(path, admin, { url: vault.url, client_id: "id", client_secret: "hidden" });
  expect(fixed.body.oauth_client_info).not.toContain("hidden");
  expect((await call(path, ann, { url: vault.url, client_id: "x" })).status).toBe(403);
  const metadata = await call("GET /oauth/clients/mcp:vault/metadata.json", ann);
  expect(metadata.body).toMatchObject({ token_endpoint_auth_method: "none", client_name: "Millrace" });
});

it("signs people in with a public client that is registered already, and with no other server", async () => {
  const admin = await stage.app.admin();
  const redirect = `${stage.app.url}/oauth/clients/mcp:vault/callback`;
  const { client_id: clientId } = (await fetch(`${vault.origin}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
      client_name: "House",
    }),
  }).then((answer) => answer.json())) as { client_id: string };
  const asked = { url: vault.url, client_id: clientId, auth_type: "oauth_2.1_static" };
  const { body } = await call("POST /api/v1/configs/oauth/clients/register?type=mcp", admin, asked);
  const connect = (url: string) =>
    call("POST /api/v1/configs/tool_servers", admin, {
      TOOL_SERVER_CONNECTIONS: [
        {
          type: "mcp",
          url,
          auth_type: "oauth_2.1_static",
          info: { id: "vault", name: "Vault", oauth_client_info: body.oauth_client_info },
          config: { enable: true, access_grants: everyone },
        },
      ],
    });
  expect((await connect(vault.url)).status).toBe(200);
  const before = vault.counts.registered;
  const flow = await begin(bob);
  expect(flow.authorize.searchParams.get("client_id")).toBe(clientId);
  expect((await call(flow.path, bob, undefined, { cookie: flow.cookie })).status).toBe(303);
  expect(await run(bob, "read")).toEqual(["secret"]);
  expect(vault.counts.registered).toBe(before);
  await connect(vault.url.replace("127.0.0.1", "localhost"));
  const moved = await call("GET /oauth/clients/mcp:vault/authorize", bob);
  expect(moved.headers.get("location") ?? "").not.toContain(clientId);
});
