import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { grant, permit } from "#plugins/workspace-tools/tools.fixture.ts";

let app: App;
let author: TestUser;
let reader: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  app = await useApp();
  [author, reader, stranger] = [await app.user(), await app.user(), await app.user()];
  await permit(app, [author], { workspace: { prompts: true, prompts_export: true } });
});
afterAll(() => app?.close());

const call = (user: TestUser, route: string, body?: unknown) => {
  const [method, path] = route.split(" ", 2) as [string, string];
  const given = body === undefined ? {} : { body };
  return app.call(`${method} /api/v1/prompts${path}`, { token: user.token, ...given });
};

// oxlint-disable-next-line typescript/no-explicit-any -- a record of the wire
async function make(command: string, more: Record<string, unknown> = {}): Promise<any> {
  const body = { command, name: `Name of ${command}`, content: "First line\nSecond line", ...more };
  const { status, body: made, text } = await call(author, "POST /create", body);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return made;
}

describe("a prompt", () => {
  it("is stored with its command and first version, and listed", async () => {
    const made = await make("/translate", { tags: ["Text", "text", "Work"], commit_message: "Begin" });
    expect(made).toMatchObject({
      command: "translate",
      user_id: author.id,
      tags: ["text", "Work"],
      data: {},
      meta: {},
      is_active: true,
      access_grants: [],
      write_access: true,
      version_id: expect.any(String),
    });
    const [entry] = (await call(author, `GET /id/${made.id}/history`)).body;
    expect(entry).toMatchObject({
      id: made.version_id,
      parent_id: null,
      commit_message: "Begin",
      is_production: true,
      user: { id: author.id },
      snapshot: { command: "translate", content: "First line\nSecond line" },
    });
    expect((await call(author, "GET /")).body.map(({ id }: { id: string }) => id)).toContain(made.id);
    expect((await call(author, "GET /tags")).body).toEqual(["text", "Work"]);
    expect((await call(author, "GET /list?tag=WORK")).body).toMatchObject({
      total: 1,
      items: [{ id: made.id, user: { id: author.id } }],
    });
    expect((await call(author, "GET /list?query=%25")).body.total).toBe(0);
  });

  it("needs a command that is free and well formed", async () => {
    await make("taken");
    const again = await call(author, "POST /create", { command: "TAKEN", name: "n", content: "c" });
    expect([again.status, again.body.detail]).toEqual([400, expect.stringContaining("/TAKEN is taken")]);
    for (const command of ["two words", "", "a/b", "x".repeat(51), "<b>"]) {
      const { status, text } = await call(author, "POST /create", { command, name: "n", content: "c" });
      expect([status, text]).toEqual([422, expect.stringContaining("command")]);
    }
    const other = await make("other");
    const renamed = await call(author, `POST /id/${other.id}/update/meta`, { name: "n", command: "Taken" });
    expect(renamed.status).toBe(400);
    const both = await Promise.all(
      [1, 2].map(() => call(author, "POST /create", { command: "race", name: "n", content: "c" })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  it("is made by those who may, and exported by those who may", async () => {
    const refused = await call(reader, "POST /create", { command: "mine", name: "n", content: "c" });
    expect(refused.status).toBe(403);
    expect((await call(reader, "GET /export")).status).toBe(403);
    const exported = (await call(author, "GET /export")).body as { user_id: string }[];
    expect(exported.length).toBeGreaterThan(0);
    expect(exported.every(({ user_id: owner }) => owner === author.id)).toBe(true);
  });
});

describe("versions", () => {
  it("are drafts until one is put into use", async () => {
    const made = await make("report");
    const draft = { content: "First line\nOther line", commit_message: "Try", is_production: false };
    const kept = (await call(author, `POST /id/${made.id}/update`, draft)).body;
    expect(kept).toMatchObject({ content: made.content, version_id: made.version_id });
    const [newest, first] = (await call(author, `GET /id/${made.id}/history?page=0`)).body;
    expect(newest).toMatchObject({ is_production: false, parent_id: first.id, commit_message: "Try" });
    const diff = await call(author, `GET /id/${made.id}/history/diff?from_id=${first.id}&to_id=${newest.id}`);
    expect(diff.body).toMatchObject({
      from_id: first.id,
      content_diff: [" First line", "-Second line", "+Other line"],
      name_changed: false,
    });
    const half = await call(author, `GET /id/${made.id}/history/diff?from_id=${first.id}`);
    expect([half.status, half.text]).toEqual([422, expect.stringContaining("to_id")]);
    const used = await call(author, `POST /id/${made.id}/update/version`, { version_id: newest.id });
    expect(used.body).toMatchObject({ content: draft.content, version_id: newest.id });
    const live = await call(author, `DELETE /id/${made.id}/history/${newest.id}`);
    expect([live.status, live.body.detail]).toEqual([400, expect.stringContaining("in use")]);
    expect((await call(author, `DELETE /id/${made.id}/history/${first.id}`)).body).toBe(true);
    const [left] = (await call(author, `GET /id/${made.id}/history`)).body;
    expect(left).toMatchObject({ id: newest.id, parent_id: null });
  });

  it("of another prompt are not found", async () => {
    const [one, two] = [await make("one"), await make("two")];
    const { version_id: foreign } = two;
    for (const [route, body] of [
      [`POST /id/${one.id}/update/version`, { version_id: foreign }],
      [`GET /id/${one.id}/history/${foreign}`],
      [`DELETE /id/${one.id}/history/${foreign}`],
      [`GET /id/${one.id}/history/diff?from_id=${one.version_id}&to_id=${foreign}`],
    ] as const) {
      expect([route, (await call(author, route, body)).status]).toEqual([route, 404]);
    }
    expect((await call(author, `GET /id/${one.id}`)).body.content).toBe(one.content);
  });

  it("are not written over one that was put into use meanwhile", async () => {
    const made = await make("shared-work");
    const next = { content: "Mine", version_id: made.version_id };
    expect((await call(author, `POST /id/${made.id}/update`, next)).status).toBe(200);
    expect((await call(author, `POST /id/${made.id}/update`, { ...next, content: "Late" })).status).toBe(409);
  });

  it("of a prompt of drafts are offered once one is in use", async () => {
    const made = await make("sketch", { is_production: false });
    expect(made).toMatchObject({ version_id: null, is_active: false });
    const [entry] = (await call(author, `GET /id/${made.id}/history`)).body;
    const used = await call(author, `POST /id/${made.id}/update/version`, { version_id: entry.id });
    expect(used.body).toMatchObject({ version_id: entry.id, is_active: true });
  });
});

describe("access", () => {
  it("lets readers use a prompt and see no versions, and strangers nothing", async () => {
    const made = await make("lent");
    const shared = await call(author, `POST /id/${made.id}/access/update`, {
      access_grants: [grant(reader, "read")],
    });
    expect(shared.body.access_grants).toMatchObject([{ principal_id: reader.id, permission: "read" }]);
    const seen = (await call(reader, `GET /id/${made.id}`)).body;
    expect(seen).toMatchObject({ content: made.content, write_access: false, access_grants: [] });
    expect((await call(reader, "GET /list?view_option=shared&is_active=true")).body.total).toBe(1);
    for (const route of [
      `GET /id/${made.id}/history`,
      `GET /id/${made.id}/history/${made.version_id}`,
      `DELETE /id/${made.id}/delete`,
      `POST /id/${made.id}/toggle`,
    ]) {
      expect([route, (await call(reader, route)).status]).toEqual([route, 403]);
      expect([route, (await call(stranger, route)).status]).toEqual([route, 404]);
    }
    expect((await call(stranger, "GET /")).body).toEqual([]);

    expect((await call(author, `POST /id/${made.id}/toggle`)).body.is_active).toBe(false);
    expect((await call(reader, "GET /list?is_active=true")).body.total).toBe(0);
    expect((await call(author, `DELETE /id/${made.id}/delete`)).body).toBe(true);
    expect((await call(author, `GET /id/${made.id}`)).status).toBe(404);
  });
});
