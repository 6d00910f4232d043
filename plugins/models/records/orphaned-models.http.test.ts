import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databaseUrl } from "#config/core-database.ts";
import { boot, type Running } from "#kernel/boot.ts";
import { housekeeping } from "#kernel/housekeeping.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { text } from "#test/support/upstream-scripts.ts";
import type { TestUser } from "#test/support/app.ts";
import { everybody, type ModelsApp, reads, startModels } from "../models.fixture.ts";
import { png, toDataUri } from "../pictures/pictures.fixture.ts";

let at: ModelsApp;
let reader: TestUser;

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });
const rowsOf = async (sql: string) =>
  (await at.app.running.database.query(sql)).rows as Record<string, unknown>[];

/** Asks until it is so; what follows a deleted account comes a moment later. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    expect(tries).toBeLessThan(200);
    await pause(25);
  }
}

beforeAll(async () => {
  at = await startModels();
  reader = await at.app.user();
  await at.post("model/access/update", { id: "alpha", access_grants: [everybody] });
});
afterAll(() => at.close());

describe("when an account is deleted", () => {
  it("its private models go, shared ones and edits of providers' models stay for administrators", async () => {
    const author = await at.app.user("admin");
    const picture = { background_image_data: toDataUri("png", png(2, 2)) };
    await at.post(
      "import",
      { models: [form("shared", { ...picture, access_grants: [reads(reader)] })] },
      author,
    );
    await at.post("create", form("private"), author);
    await at.post("create", { id: "beta", name: "Beta", base_model_id: null }, author);
    expect(await at.listed(reader)).toEqual(["alpha", "shared"]);

    const path = `DELETE /api/v1/users/${author.id}`;
    expect((await at.admin.call(path)).status).toBe(200);
    await until(async () => (await at.get("model?id=private")).status === 404);
    expect(await at.listed(reader)).toEqual(["alpha", "shared"]);
    await until(async () => (await at.get("model?id=shared")).body.meta.background_image_url === null);
    expect((await at.get("model?id=shared")).body).toMatchObject({
      user_id: "",
      user: null,
      write_access: true,
    });
    expect((await at.get("model?id=beta")).body).toMatchObject({ user_id: "", base_model_id: null });
    expect((await at.get("export")).status).toBe(200);
    expect((await at.post("model/delete", { id: "shared" }, reader)).status).toBe(403);
  });

  it("what it was granted is gone at once", async () => {
    const guest = await at.app.user();
    await at.post("create", form("for-guest", { access_grants: [reads(guest)] }));
    expect(await at.listed(guest)).toContain("for-guest");
    await at.admin.call(`DELETE /api/v1/users/${guest.id}`);
    expect((await at.get("model?id=for-guest")).body.access_grants).toEqual([]);
  });
});

it("a deleted group opens its models to nobody any more", async () => {
  const call = (route: string, body?: unknown) => at.admin.call(route, body);
  const { body: group } = await call("POST /api/v1/groups/create", { name: "Crew", description: "" });
  await call(`POST /api/v1/groups/id/${group.id}/users/add`, { user_ids: [reader.id] });
  const grant = { principal_type: "group", principal_id: group.id, permission: "read" };
  await at.post("create", form("crew", { access_grants: [grant] }));
  expect(await at.listed(reader)).toContain("crew");
  await call(`DELETE /api/v1/groups/id/${group.id}/delete`);
  expect(await at.listed(reader)).not.toContain("crew");
  expect(await rowsOf(`select * from access_grant where principal_id = '${group.id}'`)).toEqual([]);
});

it("grants of models that a crash left behind are swept daily, others stay", async () => {
  const { database, gathered } = at.app.running;
  await database.query(
    `insert into access_grant (resource_type, resource_id, principal_type, principal_id, permission)
     values ('model', 'long gone', 'user', '*', 'read'), ('unknown', 'thing', 'user', '*', 'read')`,
  );
  const before = await rowsOf("select resource_type, resource_id from access_grant order by id");
  const job = housekeeping(database, gathered).find(({ id }) => id === "kernel.grants");
  expect(job?.every).toBe(86_400);
  await job?.run(undefined as never, undefined as never);
  const after = await rowsOf("select resource_type, resource_id from access_grant order by id");
  expect(after).toEqual(before.filter(({ resource_id: id }) => id !== "long gone"));
});

/** Two processes that share nothing but the database. */
describe("on another replica", () => {
  let there: Running;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "replica-"));
    there = await boot({
      catalogue,
      port: 0,
      environment: {
        ENV: "dev",
        GLOBAL_LOG_LEVEL: "CRITICAL",
        DATABASE_URL: databaseUrl(at.app.running.config) as string,
        DATA_DIR: folder,
        SHUTDOWN_GRACE_SECONDS: "1",
        OPENAI_API_BASE_URLS: at.upstream.url,
        OPENAI_API_KEYS: "key",
      },
    });
    at.upstream.always("/chat/completions", text("ok"));
    await fetch(`${there.url}/api/models?refresh=true`, {
      headers: { authorization: `Bearer ${at.admin.token}` },
    });
  });
  afterAll(async () => {
    await there?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const ask = async () => {
    const body = JSON.stringify({ model: "far", messages: [{ role: "user", content: "Hi" }] });
    const headers = { authorization: `Bearer ${reader.token}`, "content-type": "application/json" };
    return (await fetch(`${there.url}/api/chat/completions`, { method: "POST", headers, body })).status;
  };

  it("a model is there and gone within moments", async () => {
    const timed = async (change: () => Promise<unknown>, status: number) => {
      await change();
      const began = performance.now();
      await until(async () => (await ask()) === status);
      expect(performance.now() - began).toBeLessThan(2_000);
    };
    await timed(() => at.post("create", form("far", { access_grants: [reads(reader)] })), 200);
    await timed(() => at.post("model/access/update", { id: "far", access_grants: [] }), 404);
    await timed(() => at.post("model/access/update", { id: "far", access_grants: [everybody] }), 200);
    await timed(() => at.post("model/toggle?id=far", undefined), 404);
    await timed(() => at.post("model/toggle?id=far", undefined), 200);
    await timed(() => at.post("model/delete", { id: "far" }), 404);
  });
});
