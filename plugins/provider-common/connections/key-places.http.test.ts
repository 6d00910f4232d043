import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let a: Upstream;
let b: Upstream;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  [a, b] = [await startUpstream(), await startUpstream()];
  app = await startApp({
    env: {
      OPENAI_API_BASE_URLS: `${a.url};${b.url}`,
      OPENAI_API_KEYS: "key-of-a;key-of-b",
      OPENAI_API_CONFIGS: JSON.stringify({
        [a.url]: { prefix_id: "by-address", headers: { "X-Token": "secret-of-a" } },
      }),
    },
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app.close();
  await Promise.all([a.close(), b.close()]);
});

const call = async (route: string, body?: object) => {
  const answer = await app.call(route, { token: admin.token, ...(body && { body }) });
  expect(answer.status).toBe(200);
  return answer.body;
};
const save = (body: object) => call("POST /compat/config/update", body);
const read = () => call("GET /compat/config");
/** What each upstream is shown by its next list: keys, and one header. */
const shown = async () => {
  const from = [a, b].map(({ requests }) => requests.length);
  await call("GET /api/models?refresh=true");
  return [a, b].map(({ requests }, at) =>
    requests
      .slice(from[at])
      .map(({ headers }) => [headers["authorization"] ?? "", headers["x-token"] ?? ""].join(" ").trim())
      .toSorted(),
  );
};

describe("settings of connections", () => {
  it("by address are shown and kept like those by index", async () => {
    const view = await read();
    expect(view.OPENAI_API_CONFIGS).toEqual({
      0: { prefix_id: "by-address", headers: { "X-Token": "sk-…" } },
    });
    expect(await save(view)).toEqual(view);
    expect(await shown()).toEqual([["Bearer key-of-a secret-of-a"], ["Bearer key-of-b"]]);
  });

  it("keep the keys and secret headers of two connections to one address apart", async () => {
    const OPENAI_API_CONFIGS = {
      0: { headers: { "X-Token": "first" } },
      1: { headers: { "X-Token": "second" } },
      2: { key: "own" },
    };
    const view = await save({
      OPENAI_API_BASE_URLS: [a.url, a.url, a.url],
      OPENAI_API_KEYS: ["one", "two", ""],
      OPENAI_API_CONFIGS,
    });
    expect(await save(view)).toEqual(view);
    expect(await shown()).toEqual([["Bearer one first", "Bearer own", "Bearer two second"], []]);
  });
});

describe("base addresses that change without their keys", () => {
  beforeEach(() =>
    save({
      OPENAI_API_BASE_URLS: [a.url, b.url],
      OPENAI_API_KEYS: ["one", "two"],
      OPENAI_API_CONFIGS: { 0: { headers: { "X-Token": "first" } }, 1: { prefix_id: "second" } },
    }),
  );

  it.each<[string, (urls: string[]) => Promise<unknown>]>([
    ["imported", (urls) => call("POST /api/v1/configs/import", { config: { "openai.api_base_urls": urls } })],
    ["set", (urls) => call("POST /api/v1/configs/settings", { OPENAI_API_BASE_URLS: urls })],
  ])("take no key of another address when they are %s", async (_how, change) => {
    await change([`${b.url}/`, `${a.origin}/other/v1`]);
    expect(await read()).toMatchObject({
      OPENAI_API_KEYS: ["sk-…", ""],
      OPENAI_API_CONFIGS: { 0: { prefix_id: "second" } },
    });
    expect(await shown()).toEqual([[""], ["Bearer two"]]);
  });

  it("are forgotten with them", async () => {
    await call("DELETE /api/v1/configs/settings/OPENAI_API_BASE_URLS");
    expect(await shown()).toEqual([["Bearer key-of-a secret-of-a"], ["Bearer key-of-b"]]);
  });
});
