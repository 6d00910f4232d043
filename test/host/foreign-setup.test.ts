import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { definePlugin } from "#kernel/plugin.ts";
import { defineSlot, type Slot } from "#kernel/service.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

let folder: string;
let app: App;
let admin: TestUser;

/** A plugin with the route `GET /api/v1/<id>`, and more contributions after it. */
const write = (id: string, more: string) => `
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
export default { id: "${id}", title: "${id}", uses: {}, setup({ use }) {
  const route = defineRoute({ method: "GET", path: "/${id}", summary: "Answer", access: "user", returns: z.string() }, () => "${id}");
  return { routes: { api: [route] }, ${more} };
} };
`;

beforeAll(async () => {
  folder = await createTestFolder({
    "plugins/late/plugin.js": write("late", `start() { throw new Error("no wind"); }`),
    "plugins/half/plugin.js": write("half", `tools: [{ id: "half.tool" }]`),
    "plugins/forgetful/plugin.js": write("forgetful", `tools: use.clock.tools`),
    "elsewhere/linked/plugin.js": write("linked", ""),
  });
  await symlink(join(folder, "elsewhere/linked"), join(folder, "plugins/linked"));
  app = await startApp({ env: { PLUGINS_PATH: join(folder, "plugins") } });
  admin = await app.admin();
});

afterAll(async () => {
  await app?.close();
  await removeTestFolder(folder);
});

test("a foreign plugin that cannot start counts as switched off", async () => {
  expect((await admin.call("GET /api/v1/late")).status).toBe(403);
});

test("one whose contributions are partly wrong leaves none of them behind", async () => {
  expect((await admin.call("GET /api/v1/half")).status).toBe(404);
  expect(app.running.gathered.plugins.map(({ plugin }) => plugin.id)).not.toContain("half");
});

test("one that reads what it does not use is left out", async () => {
  expect((await admin.call("GET /api/v1/forgetful")).status).toBe(404);
});

test("one whose folder is a link imports what the platform does", async () => {
  expect((await admin.call("GET /api/v1/linked")).text).toBe("linked");
});

test("a path that is a plugin itself is refused with what to name instead", async () => {
  const start = startApp({ env: { PLUGINS_PATH: join(folder, "elsewhere/linked") } });
  await expect(start).rejects.toThrow("is a plugin itself. Name the folder above it.");
});

test("a plugin of the project that does what comes too early is told so", async () => {
  const words = defineSlot<string>("words");
  const early = definePlugin({
    id: "early",
    title: "Early",
    uses: { words },
    setup: ({ use }) => ({
      stop: () => void (use.words satisfies Slot<string>),
      jobs: use.words.list() as never,
    }),
  });
  await expect(startApp({ plugins: [early] })).rejects.toThrow(
    /reads the slot words before all plugins are set up: call use.words.list\(\)/,
  );
  const forgetful = definePlugin({
    ...early,
    setup: ({ use }) => ({ jobs: (use as never as { clock: { jobs: [] } }).clock.jobs }),
  });
  await expect(startApp({ plugins: [forgetful] })).rejects.toThrow(
    "it reads use.clock, which it does not declare: add it to uses",
  );
});
