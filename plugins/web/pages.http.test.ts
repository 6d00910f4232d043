import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bool } from "#config/variable.ts";
import { reservedSegments } from "#kernel/page.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { type App, startApp } from "#test/support/app.ts";
import { buildInterface } from "#test/support/interface.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";

const page = { title: "Page", place: "main", access: "user" } as const;

/** A plugin of the project with a page for everybody who may come in. */
const gallery = definePlugin({
  id: "gallery",
  title: "Gallery",
  config: { on: bool("ENABLE_GALLERY", true, { key: "gallery.on", persisted: true, text: "Gallery" }) },
  permissions: [{ path: "features.gallery", default: false }],
  pages: [
    { ...page, id: "gallery", path: "/gallery", title: "Gallery", icon: "image", order: 2 },
    { ...page, id: "gallery.late", path: "/gallery/late", title: "Aa" },
    { ...page, id: "gallery.admin", path: "/gallery/admin", place: "admin", access: "admin" },
    { ...page, id: "gallery.own", path: "/gallery/own", order: 1, access: "permission:features.gallery" },
    { ...page, id: "gallery.deep", path: "/gallery/deep", place: "hidden" },
    { ...page, id: "gallery.one", path: "/gallery/:id", place: "hidden" },
    { ...page, id: "gallery.shared", path: "/shared/:id/picture", place: "hidden", access: "public" },
  ],
  enabled: (config) => config.on,
  setup: () => ({}),
});

const guest = (id: string, more = "") => `
import { definePlugin } from "#kernel/plugin.ts";
export default definePlugin({
  id: "${id}", title: "${id}",
  pages: [{ id: "${id}", path: "/${id}", title: "${id}", place: "settings", access: "user" }],
  ${more || "setup: () => ({})"},
});
`;

let folder: string;
let app: App;

beforeAll(buildInterface, 120_000);

beforeAll(async () => {
  folder = await createTestFolder({
    "guest/plugin.ts": guest("guest"),
    "guest/web/guest.js": "export const mount = () => {};",
    "guest/web/other.js": "secret",
    "guest/notes.js": "secret",
    "bare/plugin.ts": guest("bare"),
    "broken/plugin.ts": guest("broken", `setup() { throw new Error("no"); }`),
    "broken/web/broken.js": "export const mount = () => {};",
    "gone/plugin.ts": guest("gone"),
    "gone/web/gone.js": "export const mount = () => {};",
  });
  await symlink(join(folder, "guest/notes.js"), join(folder, "guest/web/linked.js"));
  app = await startApp({ plugins: [gallery], env: { PLUGINS_PATH: folder, PLUGINS_DISABLED: "gone" } });
});

afterAll(async () => {
  await app?.close();
  await removeTestFolder(folder);
});

const idsFor = async (token: string) => {
  const { status, body } = await app.call("GET /api/v1/pages", { token });
  expect(status).toBe(200);
  return idsOf(body);
};

/** Of this suite's pages; the platform's own stand beside them. */
const idsOf = (pages: { id: string }[]) =>
  pages.map(({ id }) => id).filter((id) => /^(gallery|guest|bare|broken|gone)\b/.test(id));

test("lists the pages that the caller may open, by place, order and title", async () => {
  const admin = await app.admin();
  const user = await app.user();
  const hidden = ["gallery.deep", "gallery.one", "gallery.shared"];
  const own = ["gallery.own", "gallery", "gallery.late", "bare", "guest", "gallery.admin", ...hidden];
  expect(await idsFor(admin.token)).toEqual(own);
  expect(await idsFor(user.token)).toEqual(["gallery", "gallery.late", "bare", "guest", ...hidden]);
});

test("tells of each page where it stands and where its module is", async () => {
  const { body } = await (await app.user()).call("GET /api/v1/pages");
  expect(body.find(({ id }: { id: string }) => id === "gallery")).toEqual({
    id: "gallery",
    plugin: "gallery",
    path: "/gallery",
    title: "Gallery",
    icon: "image",
    place: "main",
    group: null,
    order: 2,
    module: null,
  });
  expect(body.find(({ id }: { id: string }) => id === "guest")).toMatchObject({
    icon: null,
    order: null,
    module: "/plugins/guest/guest.js",
  });
});

test("lists public pages alone to those who are not signed in, or wait for activation", async () => {
  const pending = await app.user("pending");
  for (const token of [undefined, pending.token, "sk-no-such-key"]) {
    const { status, body } = await app.call("GET /api/v1/pages", { token });
    expect([status, idsOf(body)]).toEqual([200, ["gallery.shared"]]);
  }
});

test("lists a page with a permission as soon as the permission is given", async () => {
  const admin = await app.admin();
  const user = await app.user();
  const tree = (await admin.call("GET /api/v1/users/default/permissions")).body;
  const allow = (gallery: boolean) =>
    admin.call("POST /api/v1/users/default/permissions", {
      ...tree,
      features: { ...tree.features, gallery },
    });
  await allow(true);
  expect(await idsFor(user.token)).toContain("gallery.own");
  await allow(false);
  expect(await idsFor(user.token)).not.toContain("gallery.own");
});

test("hides the pages of a switched-off plugin, from administrators too", async () => {
  const { token } = await app.admin();
  const turn = (on: boolean) =>
    app.call("POST /api/v1/configs/settings", { token, body: { ENABLE_GALLERY: on } });
  await turn(false);
  expect(await idsFor(token)).toEqual(["bare", "guest"]);
  await turn(true);
  expect(await idsFor(token)).toContain("gallery");
});

test("serves a foreign plugin's module as a script of this origin, and answers 304 to who has it", async () => {
  const { status, text, headers } = await app.call("GET /plugins/guest/guest.js");
  expect([status, text]).toEqual([200, "export const mount = () => {};"]);
  expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBe("no-cache");
  expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  const again = await app.call("GET /plugins/guest/guest.js", {
    headers: { "if-none-match": headers.get("etag") ?? "" },
  });
  expect([again.status, again.text]).toEqual([304, ""]);
});

test.each([
  "/plugins/guest/other.js",
  "/plugins/guest/linked.js",
  "/plugins/guest/notes.js",
  "/plugins/guest/plugin.ts",
  "/plugins/guest/guest",
  "/plugins/guest/..%2fnotes.js",
  "/plugins/guest/%2e%2e%2fweb%2fguest.js",
  "/plugins/guest/../notes.js",
  "/plugins/guest%2fweb/guest.js",
  "/plugins/..%2fguest/guest.js",
  "/plugins/guest/guest.js%00.txt",
  "/plugins/gone/gone.js",
  "/plugins/broken/broken.js",
  "/plugins/bare/bare.js",
  "/plugins/gallery/gallery.js",
  "/plugins/constructor/name.js",
])("serves nothing but the modules of pages: GET %s", async (path) => {
  const { status, text } = await app.call(`GET ${path}`);
  expect([400, 404]).toContain(status);
  expect(text).not.toContain("secret");
});

test("answers the path of a page with the document of the interface, and no other path", async () => {
  const { text } = await app.call("GET /");
  for (const path of ["/gallery", "/gallery/admin", "/gallery/42", "/shared/42/picture", "/guest"]) {
    const answer = await app.call(`GET ${path}`);
    expect([answer.status, answer.text]).toEqual([200, text]);
  }
  expect((await app.call("GET /gallery/42/none")).status).toBe(404);
  expect((await app.call("GET /gone")).status).toBe(404);
});

test("keeps every path that the platform answers itself from being a page's", () => {
  const own = app.running.gathered.routes
    .filter(
      ({ surface, route }) =>
        ["main", "compat", "runtime"].includes(surface) && !/^\/($|\*)/.test(route.path),
    )
    .filter(({ route }) => !(route.hidden && route.summary === `Page ${route.path}`))
    .map(({ surface, route }) => (surface === "main" ? route.path.split("/")[1] : surface));
  expect([...new Set(own)].filter((segment) => !reservedSegments.has(segment ?? ""))).toEqual([]);
});
