import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "#kernel/log.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { openEgress } from "#test/support/egress.ts";
import { setUp } from "#test/support/set-up.ts";
import { failure, json, text } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { createEntraTokens, type EntraOptions } from "./entra.ts";

let upstream: Upstream;
let app: App;
let member: TestUser;

setUp(async (keep) => {
  upstream = await keep(startUpstream());
  upstream.models = ["m"];
  const entra = { access: "everyone", model_ids: ["m"] };
  const configs = {
    0: { access: "everyone", auth_type: "session", prefix_id: "own" },
    1: { ...entra, auth_type: "microsoft_entra_id", prefix_id: "cloud" },
    2: { ...entra, auth_type: "azure_ad", prefix_id: "azure", provider: "azure", api_version: "2024-10-21" },
    3: { access: "everyone", auth_type: "system_oauth", prefix_id: "sso", model_ids: ["m"] },
  };
  app = await keep(
    startApp({
      env: {
        OPENAI_API_BASE_URLS: [0, 1, 2, 3].map((n) => upstream.url + "/".repeat(n)).join(";"),
        OPENAI_API_KEYS: "sk-never-sent;sk-never-sent;sk-never-sent;sk-never-sent",
        OPENAI_API_CONFIGS: JSON.stringify(configs),
        AZURE_TENANT_ID: "house",
        AZURE_CLIENT_ID: "client",
        AZURE_CLIENT_SECRET: "client-secret",
        AZURE_AUTHORITY_HOST: upstream.origin,
      },
    }),
  );
  member = await app.user();
  upstream.always("/chat/completions", text("Hi"));
});

const ask = (model: string, token = member.token, route = "POST /api/chat/completions") =>
  app.call(route, { token, body: { model, messages: [{ role: "user", content: "Hi" }] } });
const sent = () => upstream.requests.findLast(({ path }) => path.includes("/chat/completions"))!;
const tokens = () => upstream.requests.filter(({ path }) => path.endsWith("/token"));

describe("a connection that wants the caller's own credential", () => {
  it.each(["POST /api/chat/completions", "POST /compat/chat/completions"])(
    "gets it below %s",
    async (route) => {
      for (const { token } of [member, await app.admin()]) {
        expect((await ask("own.m", token, route)).status).toBe(200);
        expect(sent().headers["authorization"]).toBe(`Bearer ${token}`);
      }
    },
  );

  it("gets an API key where that was shown", async () => {
    const admin = await app.admin();
    const made = await admin.call("POST /api/v1/auths/api_key");
    expect((await ask("own.m", made.body.api_key)).status).toBe(200);
    expect(sent().headers["authorization"]).toBe(`Bearer ${made.body.api_key}`);
  });

  it("does not give it back when it quotes what it refuses", async () => {
    upstream.reply("/chat/completions", failure(401, `Bad token ${member.token}`));
    const { status, text: told } = await ask("own.m");
    expect([status, told.includes(member.token)]).toEqual([401, false]);
  });

  it("lists its models without anybody's credential", () => {
    const listed = upstream.requests.filter(({ path }) => path.endsWith("/models"));
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.every(({ headers }) => headers["authorization"] === undefined)).toBe(true);
  });
});

describe("connections that sign in at Microsoft Entra", () => {
  it("show one token until it expires", async () => {
    upstream.reply("/token", json({ access_token: "entra-token-1", expires_in: 3600 }));
    await Promise.all([ask("cloud.m"), ask("azure.m"), ask("cloud.m")]);
    expect((await ask("cloud.m")).status).toBe(200);
    expect(sent().headers).toMatchObject({ authorization: "Bearer entra-token-1" });
    expect((await ask("azure.m")).status).toBe(200);
    expect(sent().headers["authorization"]).toBe("Bearer entra-token-1");
    expect(sent().headers["api-key"]).toBeUndefined();
    expect(tokens().map(({ path, bytes }) => [path, bytes.toString()])).toEqual([
      [
        "/house/oauth2/v2.0/token",
        "grant_type=client_credentials&client_id=client&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default&client_secret=client-secret",
      ],
    ]);
  });
});

it("a connection that wants a sign-in through a provider says so to who has none", async () => {
  const before = upstream.requests.length;
  expect(await ask("sso.m")).toMatchObject({ status: 401, text: expect.stringContaining("sign-in through") });
  expect(upstream.requests).toHaveLength(before);
});

describe("tokens of Microsoft Entra", () => {
  const log = createLogger({ level: "CRITICAL", format: "json" });
  const egress = openEgress();
  let folder: string;
  let time = 0;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "entra-"))));
  afterEach(() => rm(folder, { recursive: true }));
  afterAll(() => egress.close());

  const open = (config: Partial<EntraOptions["config"]>) =>
    createEntraTokens({
      egress,
      log,
      now: () => time,
      config: {
        entraTenant: "",
        entraClient: "",
        entraSecret: "",
        entraTokenFile: "",
        entraAuthority: upstream.origin,
        entraIdentityUrl: `${upstream.origin}/identity`,
        entraIdentityHeader: "shown",
        ...config,
      },
    });

  it("are had with the token file of a workload identity, as it is now", async () => {
    const file = join(folder, "token");
    await writeFile(file, "first\n");
    const entra = open({ entraTenant: "t", entraClient: "c", entraTokenFile: file });
    upstream.reply("/token", json({ access_token: "one", expires_in: 600 }));
    expect(await entra.token()).toBe("one");
    await writeFile(file, "second\n");
    time += 299_000;
    expect(await entra.token()).toBe("one");
    time += 2000;
    upstream.reply("/token", json({ access_token: "two", expires_in: 600 }));
    expect(await entra.token()).toBe("two");
    const assertions = tokens()
      .slice(-2)
      .map(({ bytes }) => new URLSearchParams(bytes.toString()));
    expect(assertions.map((form) => form.get("client_assertion"))).toEqual(["first", "second"]);
  });

  it("are had by the identity of a hosted service", async () => {
    upstream.reply("/identity", json({ access_token: "mine", expires_in: "86400" }));
    expect(await open({ entraClient: "c" }).token()).toBe("mine");
    const asked = upstream.requests.at(-1)!;
    expect(asked.headers["x-identity-header"]).toBe("shown");
    expect(Object.fromEntries(new URL(asked.path, upstream.origin).searchParams)).toEqual({
      "api-version": "2019-08-01",
      resource: "https://cognitiveservices.azure.com",
      client_id: "c",
    });
  });

  it.each([
    ["a refusal", () => failure(400, "invalid_client shown")],
    ["no token", () => json({ expires_in: 5 })],
    ["something else", () => json("later")],
  ])("are asked for again after %s, of which callers hear nothing", async (_what, script) => {
    const entra = open({});
    upstream.reply("/identity", script());
    const failed = Promise.resolve(entra.token());
    await expect(failed).rejects.toMatchObject({
      code: "upstream",
      detail: "This server could not sign in at the provider.",
    });
    upstream.reply("/identity", json({ access_token: "later", expires_in: 3600 }));
    expect(await entra.token()).toBe("later");
  });
});
