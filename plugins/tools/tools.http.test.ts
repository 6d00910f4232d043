import { afterAll, beforeAll, expect, it } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { type App, startApp } from "#test/support/app.ts";
import { toolListings } from "./service.ts";

const servers = definePlugin({
  id: "test-servers",
  title: "Servers of the test",
  setup: () => ({
    fills: [
      fill(toolListings, {
        list: async ({ role }) =>
          role === "admin"
            ? [{ id: "server:mcp:notes", name: "Notes", server: { type: "mcp" }, authenticated: false }]
            : [],
        specs: async ({ role }, id) => {
          if (id !== "server:mcp:notes") {
            return undefined;
          }
          if (role !== "admin") {
            throw new AppError("not_found", "Tool not found");
          }
          return { specs: [{ name: "search", description: "Searches notes" }] };
        },
      }),
    ],
  }),
});

let app: App;
beforeAll(async () => void (app = await startApp({ plugins: [servers] })));
afterAll(() => app.close());

it("lists what plugins bring, for those who may use it, and asks them for the functions", async () => {
  const [{ token }, user] = [await app.admin(), await app.user()];
  expect((await app.call("GET /api/v1/tools/", { token })).body).toEqual([
    { id: "server:mcp:notes", name: "Notes", server: { type: "mcp" }, authenticated: false },
  ]);
  expect((await user.call("GET /api/v1/tools/")).body).toEqual([]);
  const path = "GET /api/v1/tools/id/server:mcp:notes/specs";
  expect((await app.call(path, { token })).body).toEqual({
    specs: [{ name: "search", description: "Searches notes" }],
  });
  const [foreign, unknown] = [
    await user.call(path),
    await app.call("GET /api/v1/tools/id/nothing/specs", { token }),
  ];
  expect([foreign.status, unknown.status]).toEqual([404, 404]);
  expect(foreign.body).toEqual(unknown.body);
  expect((await app.call("GET /api/v1/tools/")).status).toBe(401);
});
