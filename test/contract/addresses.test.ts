import { describe, expect, it } from "vitest";
import { createClient } from "#plugins/web/kit/client.ts";
import type { Api } from "#plugins/catalogue.ts";
import { startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { probe } from "#test/support/probe.ts";
import { setUp } from "#test/support/set-up.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { text } from "#test/support/upstream-scripts.ts";

// ecosystem-shapes.md, Addresses.

let app: App;
let upstream: Upstream;
let admin: TestUser;
let user: TestUser;

const conversation = { model: "alpha", messages: [{ role: "user", content: "Hi" }] };

setUp(async (keep) => {
  ({ app, upstream } = await keep(startAppWithUpstream({ connection: {}, env: { OPENAI_API_KEYS: "key" } })));
  upstream.always("/chat/completions", text("Hello"));
  admin = await app.admin();
  user = await app.user();
  await admin.call("GET /api/models?refresh=true");
});

describe("/api/v1/chat/completions", () => {
  it("answers as /api/chat/completions does, whole and streamed", async () => {
    const client = createClient<Api>({ url: app.url, token: () => admin.token });
    const answer = await client.call("POST /api/v1/chat/completions", { body: conversation });
    expect(answer).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
    const streamed = await client.open("POST /api/v1/chat/completions", {
      body: { ...conversation, stream: true },
    });
    expect(await streamed.text()).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("refuses in the same shape", async () => {
    for (const path of ["/api/chat/completions", "/api/v1/chat/completions"]) {
      const unknown = await user.call(`POST ${path}`, { ...conversation, model: "x" });
      expect([unknown.status, unknown.body]).toEqual([
        404,
        { detail: expect.any(String), error: expect.objectContaining({ message: expect.any(String) }) },
      ]);
      expect((await app.call(`POST ${path}`, { body: conversation })).status).toBe(401);
    }
  });
});

const aliased = { compat: ["/compat", "/openai"], runtime: ["/runtime", "/ollama"] } as const;

describe("the ecosystem's names of the proxies", () => {
  it("answer every route as the own name does, for everybody who may knock", async () => {
    const routes = app.running.gathered.routes.filter(({ surface }) => Object.hasOwn(aliased, surface));
    expect(routes.length).toBeGreaterThan(40);
    const differing: string[] = [];
    for (const owned of routes) {
      const [own, alias] = aliased[owned.surface as keyof typeof aliased];
      for (const token of [undefined, user.token]) {
        const ask = (base: string) =>
          probe(app.url, owned, { token, body: bodyOf(owned.route.method), base });
        const [first, second] = [await ask(own), await ask(alias)];
        if (first.status !== second.status || stable(first.text) !== stable(second.text)) {
          differing.push(
            `${owned.route.method} ${alias}${owned.route.path}: ${second.status} ${second.text}`,
          );
        }
      }
    }
    expect(differing).toEqual([]);
  });

  it("complete a chat and list models", async () => {
    const done = await admin.call("POST /openai/chat/completions", conversation);
    expect(done.body).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
    expect((await admin.call("GET /openai/models")).body.data).toMatchObject([{ id: "alpha" }]);
    expect((await app.call("GET /ollama/")).body).toEqual({ status: true });
  });

  it("tell errors in the shape of the own name, also where no route is", async () => {
    const unknown = await admin.call("GET /ollama/no/such");
    expect([unknown.status, unknown.body]).toEqual([404, { error: "Not found" }]);
    const broken = await admin.call("GET /openai/models/%zz");
    expect([broken.status, broken.body]).toMatchObject([400, { error: { message: expect.any(String) } }]);
  });

  it("show the docs of the own name", async () => {
    expect((await app.call("GET /openai/openapi.json")).body.paths).toHaveProperty(
      "/compat/chat/completions",
    );
    expect((await app.call("GET /ollama/docs")).status).toBe(200);
  });

  it("are no way around the endpoints that keys are restricted to, and may name them", async () => {
    const { body } = await admin.call("POST /api/v1/auths/api_key");
    const allow = async (paths: string) => {
      const restricted = { ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: true, API_KEYS_ALLOWED_ENDPOINTS: paths };
      await admin.call("POST /api/v1/auths/admin/config", restricted);
    };
    const statuses = async () =>
      await Promise.all(
        ["/compat/models", "/openai/models"].map(
          async (path) => (await app.call(`GET ${path}`, { token: body.api_key })).status,
        ),
      );
    await allow("/api/models");
    expect(await statuses()).toEqual([403, 403]);
    await allow("/openai/models");
    expect(await statuses()).toEqual([200, 200]);
    await allow("/compat");
    expect(await statuses()).toEqual([200, 200]);
  });

  it("are unknown with ENABLE_ECOSYSTEM_ALIASES=false", async () => {
    const plain = await startApp({ env: { ENABLE_ECOSYSTEM_ALIASES: "false" } });
    try {
      const boss = await plain.admin();
      for (const path of ["/openai/models", "/ollama/api/tags", "/ollama/"]) {
        const answer = await boss.call(`GET ${path}`);
        expect([answer.status, answer.body]).toEqual([404, { detail: "Not found" }]);
      }
      expect((await boss.call("GET /compat/models")).status).toBe(200);
    } finally {
      await plain.close();
    }
  });
});

function bodyOf(method: string): string | undefined {
  return method === "GET" || method === "HEAD" ? undefined : "{}";
}

/** Without what differs between two equal requests. */
function stable(answer: string): string {
  return answer.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "id");
}
