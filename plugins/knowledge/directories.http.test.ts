import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { curator, type KnowledgeClient } from "./knowledge.fixture.ts";

let app: App;
let me: KnowledgeClient;

beforeAll(async () => {
  app = await useApp();
});
beforeEach(async () => {
  me = await curator(app);
});
afterAll(() => app?.close());

describe("directories", () => {
  it("make a tree without circles, with one of each name", async () => {
    const { id, files } = await me.filled("Tree", ["a.txt"]);
    const make = (name: string, parent_id: string | null = null) =>
      me.call(`POST /${id}/dirs/create`, { name, parent_id });
    const outer = (await make("Outer")).body.id;
    const inner = (await make("Inner", outer)).body.id;
    expect((await make("OUTER")).status).toBe(409);
    for (const name of ["..", "a/b", "  ", "a\\b"]) {
      expect([name, (await make(name)).status]).toEqual([name, 400]);
    }
    expect((await me.call(`POST /${id}/dirs/${outer}/update`, { parent_id: inner })).status).toBe(400);
    await me.call(`POST /${id}/file/move`, { file_id: files[0], directory_id: inner });
    expect((await me.call(`GET /${id}/files`)).body.directories).toMatchObject([
      { id: outer, file_count: 1 },
    ]);
    expect((await me.call(`DELETE /${id}/dirs/${inner}/delete`)).body).toBe(true);
    expect((await me.call(`GET /${id}/files?directory_id=${outer}`)).body.items).toMatchObject([
      { id: files[0] },
    ]);
    await me.call(`DELETE /${id}/dirs/${outer}/delete?move_files=false`);
    expect(await me.names(id)).toEqual([]);
    expect((await me.user.call(`GET /api/v1/files/${files[0]}`)).status).toBe(200);
  });
});

describe("sync", () => {
  it("says what a folder lacks, and takes away what it no longer holds", async () => {
    const { id, files } = await me.filled("Synced", ["same.txt", "old.txt", "changed.txt"]);
    const gone = (await me.call(`POST /${id}/dirs/create`, { name: "gone" })).body.id;
    const { hash } = (await me.call(`GET /${id}`)).body.files.find(
      ({ filename }: { filename: string }) => filename === "same.txt",
    );
    const manifest = [
      { path: "", filename: "same.txt", checksum: hash, size: 1 },
      { path: "", filename: "changed.txt", checksum: "0".repeat(64), size: 1 },
      { path: "new/deep/x.txt", filename: "x.txt", checksum: "1".repeat(64), size: 1 },
    ];
    const diff = (await me.call(`POST /${id}/sync/diff`, { manifest })).body;
    expect(diff).toMatchObject({
      added: [{ path: "new/deep", filename: "x.txt" }],
      modified: [{ filename: "changed.txt", file_id: files[2] }],
      deleted: [{ file_id: files[1], filename: "old.txt" }],
      mkdir: ["new", "new/deep"],
      rmdir: [{ id: gone, path: "gone" }],
      unmodified_count: 1,
      directory_map: { gone },
    });
    const body = { file_ids: [files[1]], dir_ids: [gone] };
    expect((await me.call(`POST /${id}/sync/cleanup`, body)).body).toBe(true);
    expect(await me.names(id)).toEqual(["changed.txt", "same.txt"]);
    expect((await me.call(`GET /${id}/files`)).body.directories).toEqual([]);
    const escape = [{ path: "../up", filename: "x", checksum: "2", size: 1 }];
    expect((await me.call(`POST /${id}/sync/diff`, { manifest: escape })).status).toBe(400);
  });
});
