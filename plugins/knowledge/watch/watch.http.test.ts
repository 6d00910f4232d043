import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { type KnowledgeClient, knowledgeClient } from "../knowledge.fixture.ts";
import { parseWatched } from "./watch.ts";

let app: App;
let admin: KnowledgeClient;
let root: string;
let folder: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "watch-"));
  folder = join(root, "handbook");
  await mkdir(join(folder, "rules"), { recursive: true });
  await writeFile(join(root, "outside.txt"), "Not to be read.");
  await writeFile(join(folder, "a.txt"), "The first rule.");
  await writeFile(join(folder, "rules", "b.txt"), "The second rule.");
  await writeFile(join(folder, ".hidden.txt"), "Not to be read.");
  await symlink(join(root, "outside.txt"), join(folder, "link.txt"));
  app = await startApp({
    env: {
      KNOWLEDGE_WATCH: `${folder}=Handbook; ${join(root, "missing")}=Missing`,
      KNOWLEDGE_WATCH_INTERVAL: "86400",
    },
  });
  admin = knowledgeClient(app, await app.admin());
});
afterAll(async () => {
  await app?.close();
  await rm(root, { recursive: true, force: true });
});

async function look() {
  const { items } = (await admin.call("GET /search?query=Handbook")).body;
  return items[0] === undefined ? undefined : (await admin.call(`GET /${items[0].id}`)).body;
}
const names = async () => {
  const shown = await look();
  return shown?.files
    .map(({ filename, status }: { filename: string; status: string }) => `${filename} ${status}`)
    .toSorted();
};
const patient = { timeout: 30_000, interval: 50 };
/** Looks at the folders now; the interval is too long for a test. */
const lookNow = async () => {
  const body = { id: "knowledge.watch" };
  expect((await admin.user.call("POST /api/v1/operations/jobs/run", body)).status).toBe(200);
};

it("a collection follows a folder of the server: what comes, changes and goes, and nothing outside it", async () => {
  await lookNow();
  await expect.poll(names, patient).toEqual(["a.txt processed", "b.txt processed"]);
  const first = await look();
  expect(first).toMatchObject({ name: "Handbook", watch: { folder, files: 2, failed: 0, error: null } });
  const root_ = (await admin.call(`GET /${first.id}/files`)).body;
  expect(root_.directories).toMatchObject([{ name: "rules", file_count: 1 }]);

  await writeFile(join(folder, "a.txt"), "The first rule, written again.");
  await writeFile(join(folder, "c.txt"), "The third rule.");
  await rm(join(folder, "rules", "b.txt"));
  await lookNow();
  await expect.poll(names, patient).toEqual(["a.txt processed", "c.txt processed"]);
  const { files } = await look();
  const { id } = files.find(({ filename }: { filename: string }) => filename === "a.txt");
  const read = await admin.user.call(`GET /api/v1/files/${id}/data/content`);
  expect(read.body.content).toBe("The first rule, written again.");

  // A folder that is away for a moment is no order to delete.
  await rm(folder, { recursive: true });
  await lookNow();
  await expect.poll(async () => (await look()).watch.error, patient).toBe("The folder cannot be read.");
  expect(await names()).toEqual(["a.txt processed", "c.txt processed"]);
  await mkdir(folder);
  await lookNow();
  await expect.poll(async () => (await look()).watch.error, patient).toContain("The folder is empty.");
  expect(await names()).toEqual(["a.txt processed", "c.txt processed"]);
}, 120_000);

it("reads folders with signs in their names, and leaves out what is no entry", () => {
  expect(parseWatched("/srv/a=b/c=Docs; relative=x;/srv/x=; ;/srv/y = Plans ")).toEqual([
    { folder: "/srv/a=b/c", collection: "Docs" },
    { folder: "/srv/y", collection: "Plans" },
  ]);
});
