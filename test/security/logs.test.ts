import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { firstAdmin } from "#test/support/client.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { failure } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";

const secrets = {
  secret: "s1gning-s3cret-of-this-test-0123456789abcdef",
  upstreamKey: "upstr3am-k3y-0123456789abcdef",
  headerValue: "h3ader-valu3-0123456789abcdef",
  urlPassword: "ur1-passw0rd-0123456789",
  password: "Typed-passw0rd-0123456789",
};

let upstream: Upstream;
let place: TestDataDir;
let server: ServerProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.always("/chat/completions", failure(401, `Incorrect API key provided: ${secrets.upstreamKey}`));
  place = await preparePlatformDataDir();
  server = await startProcess({
    ...place.env,
    ENV: "dev",
    GLOBAL_LOG_LEVEL: "DEBUG",
    LOG_FORMAT: "json",
    WEBUI_SECRET_KEY: secrets.secret,
    OPENAI_API_BASE_URLS: `${upstream.url};http://somebody:${secrets.urlPassword}@127.0.0.1:9/v1`,
    OPENAI_API_KEYS: `${secrets.upstreamKey};${secrets.upstreamKey}`,
    OPENAI_API_CONFIGS: JSON.stringify({
      0: { access: "everyone", headers: { "x-secret": secrets.headerValue } },
    }),
    ENABLE_OPENAI_API_PASSTHROUGH: "true",
  });
}, 120_000);

afterAll(async () => {
  await server?.stop();
  await place?.remove();
  await upstream?.close();
});

interface Operation {
  readonly method: string;
  readonly path: string;
}

/** Every route that the documents of all surfaces name. */
async function listOperations(): Promise<Operation[]> {
  const bases = [
    "",
    "/api/v1",
    "/compat",
    "/runtime",
    "/images/api/v1",
    "/audio/api/v1",
    "/retrieval/api/v1",
  ];
  const documents = await Promise.all(
    bases.map(async (base) => (await fetch(`${server.url}${base}/openapi.json`)).json()),
  );
  return documents.flatMap((document) =>
    Object.entries((document as { paths?: Record<string, object> }).paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    ),
  );
}

describe("the log of a walk through every route at DEBUG (S107)", () => {
  it("holds no password, key or token, and only lines of its own", { timeout: 120_000 }, async () => {
    const token = await firstAdmin(server.url);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const { api_key: key } = await (
      await fetch(`${server.url}/api/v1/auths/api_key`, { method: "POST", headers })
    ).json();
    const operations = (await listOperations()).filter(({ path }) => !/\/(signout|api_key|all)$/.test(path));
    expect(operations.length).toBeGreaterThan(60);
    const body = JSON.stringify({
      email: "ana@example.test",
      password: secrets.password,
      new_password: secrets.password,
      name: 'Ana\n{"level":"fatal"}',
      role: "user",
      model: "mock-model",
      messages: [{ role: "user", content: `my key is ${key}` }],
      input: "x",
      url: `http://somebody:${secrets.urlPassword}@127.0.0.1:9/v1`,
      key: secrets.upstreamKey,
      config: { headers: { "x-secret": secrets.headerValue } },
      ui: { token: secrets.headerValue },
      OPENAI_API_KEYS: secrets.upstreamKey,
    });
    const credentials: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { "x-api-key": key },
      { cookie: `token=${token}` },
      { authorization: `Basic ${btoa(`a:${secrets.password}`)}` },
    ];
    for (const { method, path } of operations) {
      const filled = path.replaceAll(/\{\w+\}/g, encodeURIComponent(key));
      for (const credential of credentials) {
        const answer = await fetch(
          `${server.url}${filled}?token=${token}&api_key=${key}&password=${secrets.password}`,
          {
            method,
            headers: {
              "content-type": "application/json",
              "user-agent": `agent ${key}`,
              referer: `http://x/?token=${token}`,
              "x-request-id": 'a{"level":"fatal"}',
              ...credential,
            },
            body: ["GET", "HEAD", "DELETE"].includes(method) ? null : body,
            redirect: "manual",
          },
        );
        await answer.body?.cancel();
      }
    }
    const lines = server
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    expect(lines.length).toBeGreaterThan(operations.length);
    for (const [name, value] of Object.entries({
      ...secrets,
      token,
      key,
      cookie: token.split(".")[2] as string,
      basic: btoa(`a:${secrets.password}`),
    })) {
      expect([name, lines.filter((line) => line.includes(value)).slice(0, 2)]).toEqual([name, []]);
      expect([name, server.output().includes(value)]).toEqual([name, false]);
    }
    const levels = new Set(lines.map((line) => (JSON.parse(line) as { level: string }).level));
    expect(levels.has("fatal")).toBe(false);
    // The walk broke nothing that had to be looked into.
    expect(lines.filter((line) => line.includes('"level":"error"')).slice(0, 2)).toEqual([]);
  });
});
