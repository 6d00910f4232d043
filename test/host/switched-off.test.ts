import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bool } from "#config/variable.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

const statuses = [401, 403, 404, 503] as const;

/** A plugin that can be switched off while the platform runs, for each answer it may give then. */
function makePlugin(whenOff: (typeof statuses)[number]) {
  const id = `lamp-${whenOff}`;
  return definePlugin({
    id,
    title: "Lamp",
    config: {
      enabled: bool(`ENABLE_LAMP_${whenOff}`, true, {
        key: `lamp.${whenOff}`,
        persisted: true,
        text: "Lamp",
      }),
    },
    whenOff,
    enabled: (config) => config.enabled,
    setup: () => ({
      routes: {
        api: [
          defineRoute(
            {
              method: "POST",
              path: `/${id}`,
              summary: "Shine",
              access: "user",
              body: z.object({ watt: z.int() }),
            },
            ({ body }) => ({ shines: body.watt }),
          ),
          defineRoute(
            { method: "GET", path: `/${id}/state`, summary: "State", access: "user", alwaysOn: true },
            () => ({ state: "known" }),
          ),
        ],
      },
    }),
  });
}

let app: App;
let boss: TestUser;

beforeAll(async () => {
  app = await startApp({ plugins: statuses.map(makePlugin) });
  boss = await app.admin();
});

afterAll(() => app?.close());

function set(name: string, value: boolean) {
  return boss.call("POST /api/v1/configs/settings", { [name]: value });
}

describe.each(statuses)("switched off with %d", (status) => {
  const route = `POST /api/v1/lamp-${status}`;

  beforeAll(async () => {
    expect((await boss.call(route, { watt: 5 })).body).toEqual({ shines: 5 });
    expect((await set(`ENABLE_LAMP_${status}`, false)).status).toBe(200);
  });

  test("its routes say so before they look at the input, to administrators too", async () => {
    expect((await boss.call(route, { watt: 5 })).status).toBe(status);
    expect((await boss.call(route, { watt: "no number" })).status).toBe(status);
    expect((await boss.call(route, "no JSON")).status).toBe(status);
    expect((await boss.call(route)).status).toBe(status);
  });

  test("nobody still hears 401", async () => {
    expect((await app.call(route, { body: { watt: 5 } })).status).toBe(401);
  });

  test("a route that is always on answers", async () => {
    expect((await boss.call(`GET /api/v1/lamp-${status}/state`)).body).toEqual({ state: "known" });
  });

  test("switched on again it works again, without a restart", async () => {
    await set(`ENABLE_LAMP_${status}`, true);
    expect((await boss.call(route, { watt: 7 })).body).toEqual({ shines: 7 });
    expect((await boss.call(route, { watt: "no number" })).status).toBe(422);
  });
});

test("left out is not switched off: the paths do not exist", async () => {
  const other = await startApp({ plugins: [makePlugin(403)], env: { PLUGINS_DISABLED: "lamp-403" } });
  const admin = await other.admin();
  expect((await admin.call("POST /api/v1/lamp-403", { watt: 5 })).status).toBe(404);
  expect((await admin.call("GET /api/v1/lamp-403/state")).status).toBe(404);
  await other.close();
});

test("the common-format surface says 503 while its connections are switched off", async () => {
  const { status, body } = await boss.call("GET /compat/models");
  expect(status).not.toBe(503);
  await set("ENABLE_OPENAI_API", false);
  expect((await boss.call("GET /compat/models")).status).toBe(503);
  expect((await boss.call("POST /compat/chat/completions", "no JSON")).status).toBe(503);
  await set("ENABLE_OPENAI_API", true);
  expect(await boss.call("GET /compat/models")).toMatchObject({ status, body });
});

test("the guide's model goes with the guide and comes back with it", async () => {
  const ids = async () =>
    ((await boss.call("GET /api/models")).body.data as { id: string }[]).map(({ id }) => id);
  expect(await ids()).toContain("guide");
  await set("ENABLE_GUIDE", false);
  expect(await ids()).not.toContain("guide");
  await set("ENABLE_GUIDE", true);
  expect(await ids()).toContain("guide");
});
