import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";

let a: Runtime;
let b: Runtime;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  [a, b] = [await startRuntime(), await startRuntime()];
  app = await useApp({
    env: {
      OLLAMA_BASE_URLS: `${a.origin};${b.origin}`,
      OLLAMA_API_CONFIGS: JSON.stringify({ [a.origin]: { key: "by-address" } }),
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
/** The keys that each backend is shown when it is asked for its list. */
const shown = async () => {
  const from = [a, b].map(({ requests }) => requests.length);
  await call("GET /api/models?refresh=true");
  return [a, b].map(({ requests }, at) =>
    requests
      .slice(from[at])
      .filter(({ path }) => path === "/api/tags")
      .map(({ headers }) => headers["authorization"])
      .toSorted(),
  );
};

it("settings by address are shown and kept like those by index", async () => {
  const view = await call("GET /runtime/config");
  expect(view.OLLAMA_API_CONFIGS).toEqual({ 0: { key: "sk-…" } });
  expect(await call("POST /runtime/config/update", view)).toEqual(view);
  expect(await shown()).toEqual([["Bearer by-address"], [undefined]]);
});

it("keys of two backends at one address stay apart, and no key goes to another address", async () => {
  const view = await call("POST /runtime/config/update", {
    OLLAMA_BASE_URLS: [a.origin, a.origin],
    OLLAMA_API_CONFIGS: { 0: { key: "one" }, 1: { key: "two" } },
  });
  expect(await call("POST /runtime/config/update", view)).toEqual(view);
  expect(await shown()).toEqual([["Bearer one", "Bearer two"], []]);
  await call("POST /api/v1/configs/import", { config: { ollama: { base_urls: [b.origin, a.origin] } } });
  expect(await shown()).toEqual([["Bearer two"], [undefined]]);
});
