import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { silence } from "#test/support/upstream-faults.ts";
import { json } from "#test/support/upstream-scripts.ts";
import { startRuntime, type Runtime } from "#test/support/runtime.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let upstream: Upstream;
let runtime: Runtime;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["m"];
  runtime = await startRuntime(["llama3:latest"]);
  const configs = { 0: { prefix_id: "one" }, 1: { enable: false }, 2: { model_ids: ["named"] } };
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: `${upstream.url};${upstream.url}/off;${upstream.url}/named;ftp://nowhere`,
      OPENAI_API_KEYS: "sk-secret-key-of-one",
      OPENAI_API_CONFIGS: JSON.stringify(configs),
      OLLAMA_BASE_URLS: runtime.url,
      AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST: "1",
    },
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app.close();
  await Promise.all([upstream.close(), runtime.close()]);
});

const states = async (kind: "common" | "runtime", query = "?refresh=true") =>
  (await admin.call(`GET /api/v1/configs/connections/${kind}${query}`)).body.data;

it("every connection says how it fares and what it offers", async () => {
  const [one, off, named, unusable] = await states("common");
  expect(one).toMatchObject({ state: "reachable", reason: null, models: ["one.m"], pipelines: false });
  expect(one.latency_ms).toBeGreaterThanOrEqual(0);
  expect(one.checked_at).toBeGreaterThan(1_700_000_000);
  expect(off).toMatchObject({ state: "off", models: [], latency_ms: null });
  expect(named).toMatchObject({ state: "fixed", models: ["named"] });
  expect([unusable.state, unusable.reason]).toEqual(["unusable", expect.stringContaining("not an http")]);
  expect(await states("runtime")).toMatchObject([{ state: "reachable", models: ["llama3:latest"] }]);
});

it("one that refuses says so in its own words, without the key", async () => {
  upstream.reply("/models", json({ error: { message: "sk-secret-key-of-one is no key" } }, { status: 401 }));
  const [one] = await states("common");
  expect(one).toMatchObject({ state: "failing", latency_ms: null, models: ["one.m"] });
  expect(one.reason).toContain("refused with status 401: ");
  expect(one.reason).toContain("is no key");
  expect(JSON.stringify(one)).not.toContain("sk-secret-key-of-one");
  expect((await states("common"))[0].state).toBe("reachable");
});

it("one that is silent says that the time was over and when it is asked again", async () => {
  upstream.reply("/models", silence());
  const [one] = await states("common");
  expect(one).toMatchObject({ state: "failing", reason: "The upstream did not finish in time." });
  expect(one.retry_in).toBeGreaterThanOrEqual(1);
  upstream.reply("/models", silence());
  expect((await admin.call("POST /compat/verify", { url: upstream.url })).status).toBe(504);
});

it("nobody but administrators learns of it", async () => {
  const member = await app.user();
  for (const kind of ["common", "runtime"]) {
    expect((await member.call(`GET /api/v1/configs/connections/${kind}`)).status).toBe(403);
  }
});

it("models of a connection can be for the members of a group", async () => {
  const [inside, outside] = [await app.user(), await app.user()];
  const group = (await admin.call("POST /api/v1/groups/create", { name: "Millers", description: "" })).body;
  await admin.call(`POST /api/v1/groups/id/${group.id}/users/add`, { user_ids: [inside.id] });
  const access = { access: "groups", access_groups: [group.id] };
  const saved = await admin.call("POST /compat/config/update", {
    OPENAI_API_BASE_URLS: [upstream.url],
    OPENAI_API_KEYS: ["k"],
    OPENAI_API_CONFIGS: { 0: access },
  });
  expect(saved.body.OPENAI_API_CONFIGS).toEqual({ 0: access });
  const runtimes = { OLLAMA_BASE_URLS: [runtime.url], OLLAMA_API_CONFIGS: { 0: access } };
  await admin.call("POST /runtime/config/update", runtimes);
  const seen = async (user: TestUser) =>
    (await user.call("GET /api/models")).body.data.map(({ id }: { id: string }) => id);
  expect(await seen(inside)).toEqual(expect.arrayContaining(["m", "llama3:latest"]));
  const others = await seen(outside);
  expect(others).not.toContain("m");
  expect(others).not.toContain("llama3:latest");
});
