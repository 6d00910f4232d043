import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { loadForeignPlugins } from "#kernel/foreign.ts";
import { createLogger } from "#kernel/log.ts";
import { BootError } from "#kernel/order.ts";
import { type AnyPlugin, definePlugin } from "#kernel/plugin.ts";
import { defineService } from "#kernel/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { type App, startApp } from "#test/support/app.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

let app: App | undefined;
const folders: string[] = [];

afterEach(async () => {
  await app?.close();
  app = undefined;
  await Promise.all(folders.splice(0).map(removeTestFolder));
});

/** A folder for PLUGINS_PATH with these files. */
async function createPluginFolder(files: Record<string, string>): Promise<string> {
  const folder = await createTestFolder(files);
  folders.push(folder);
  return folder;
}

/** A plugin with one route, `GET /api/v1/<id>`, as somebody would write it outside of the project. */
function write(id: string, { before = "", setup = "" } = {}): string {
  return `
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";
${before}
const Answer = z.object({ from: z.string() });
export default definePlugin({
  id: "${id}",
  title: "${id}",
  setup() {
    ${setup}
    const route = defineRoute(
      { method: "GET", path: "/${id}", summary: "Answer", access: "user", returns: Answer },
      (): z.output<typeof Answer> => ({ from: "${id}" }),
    );
    return { routes: { api: [route] } };
  },
});
`;
}

test("a foreign plugin that fails is left out, and the others work", async () => {
  const path = await createPluginFolder({
    "good/plugin.ts": write("good"),
    "plain/plugin.js": `export default { id: "plain", title: "Plain", setup: () => ({}) };`,
    "broken-syntax/plugin.ts": "export default {{{",
    "broken-import/plugin.ts": `import { gone } from "#kernel/nowhere.ts";\nexport default gone;`,
    "broken-load/plugin.ts": write("broken-load", { before: `throw new Error("at load");` }),
    "broken-setup/plugin.ts": write("broken-setup", { setup: `throw new Error("in setup");` }),
    "no-plugin/plugin.ts": "export default 1;",
    "no-export/plugin.ts": "export const plugin = 1;",
    "no-file/readme.md": "nothing here",
    "loose.ts": write("loose"),
  });
  app = await startApp({ env: { PLUGINS_PATH: path } });
  const admin = await app.admin();

  expect((await admin.call("GET /api/v1/good")).body).toEqual({ from: "good" });
  for (const id of ["broken-setup", "broken-load", "loose"]) {
    expect((await admin.call(`GET /api/v1/${id}`)).status).toBe(404);
  }
  const ids = app.running.gathered.plugins.map(({ plugin }) => plugin.id);
  expect(ids).toEqual(expect.arrayContaining(["accounts", "good", "plain"]));
  expect(ids.filter((id) => id.startsWith("broken") || id.startsWith("no-"))).toEqual([]);
});

test("a foreign plugin can be left out by its id", async () => {
  const path = await createPluginFolder({ "good/plugin.ts": write("good") });
  app = await startApp({ env: { PLUGINS_PATH: path, PLUGINS_DISABLED: "good" } });
  const admin = await app.admin();
  expect((await admin.call("GET /api/v1/good")).status).toBe(404);
});

test("a path that does not exist refuses the start", async () => {
  const path = join(await createPluginFolder({}), "nowhere");
  await expect(startApp({ env: { PLUGINS_PATH: path } })).rejects.toThrow("PLUGINS_PATH names");
});

test("a plugin of the project that fails refuses the start, and tells its name and why", async () => {
  const plugin = definePlugin({
    id: "fragile",
    title: "Fragile",
    setup() {
      throw new Error("the glass is broken");
    },
  });
  const start = startApp({ plugins: [plugin] });
  await expect(start).rejects.toThrow(BootError);
  await expect(start).rejects.toThrow("The plugin fragile could not be set up: the glass is broken");
});

test("two plugins that provide one service refuse the start, and both are named", async () => {
  const second = definePlugin({ id: "second", title: "Second", provides: [accounts], setup: () => ({}) });
  const start = startApp({ plugins: [second] });
  await expect(start).rejects.toThrow(BootError);
  await expect(start).rejects.toThrow(/accounts is provided by both accounts and second/);
});

test("a missing service refuses the start, and who needs it is named", async () => {
  const lonely = definePlugin({
    id: "lonely",
    title: "Lonely",
    uses: { friend: defineService("friend") },
    setup: () => ({}),
  });
  await expect(startApp({ plugins: [lonely] })).rejects.toThrow("The plugin lonely needs the service friend");
});

test("two plugins with one route refuse the start", async () => {
  const path = await createPluginFolder({ "one/plugin.ts": write("twice") });
  const log = createLogger({ level: "CRITICAL", format: "plain" });
  const [plugin] = (await loadForeignPlugins(path, log, [])).keys();
  const again = definePlugin({ ...plugin, id: "again" } as never);
  const start = startApp({ plugins: [plugin as AnyPlugin, again] });
  await expect(start).rejects.toThrow(BootError);
  await expect(start).rejects.toThrow(/again.*twice has the route GET \/api\/v1\/twice/);
});
