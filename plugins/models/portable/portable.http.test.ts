import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { everybody, type ModelsApp, reads, startModels, stateOf, upload } from "../models.fixture.ts";
import { gif, pixels, png, toDataUri } from "../pictures/pictures.fixture.ts";

let source: ModelsApp;
let target: ModelsApp;
let builder: TestUser;

beforeAll(async () => {
  source = await startModels();
  target = await startModels();
  builder = await source.builder();
});
afterAll(async () => {
  await source.close();
  await target.close();
});

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });
const find = (at: ModelsApp, id: string) => at.get(`model?id=${id}`);
const bytesOf = async (at: ModelsApp, path: string, by = at.admin) =>
  Buffer.from(
    await (
      await fetch(at.app.url + path, { headers: { authorization: `Bearer ${by.token}` } })
    ).arrayBuffer(),
  );

describe("between two instances", () => {
  it("a model moves with its picture, and only its maker changes", async () => {
    const picture = png(40, 30);
    const url = `/api/v1/files/${await upload(source, builder, picture)}/content`;
    const icon = toDataUri("png", png(2, 2));
    const meta = {
      background_image_url: url,
      profile_image_url: icon,
      tags: [{ name: "sea" }],
      extra: { kept: 1 },
    };
    const params = { temperature: 0.2, custom_params: { x: "1" } };
    await source.post("create", form("pilot", { meta, params, access_grants: [everybody] }), source.admin);
    const { body: list, status } = await source.get("export?ids=pilot");
    expect([status, list]).toEqual([
      200,
      [
        expect.objectContaining({
          id: "pilot",
          user_id: source.admin.id,
          params,
          meta: { ...meta, background_image_url: null },
          background_image_data: toDataUri("png", picture),
        }),
      ],
    ]);

    const importer = await target.builder();
    const sent = list.map((model: object) => ({ ...model, user_id: "forged", created_at: 1, updated_at: 2 }));
    expect(await target.post("import", { models: sent }, importer)).toMatchObject({
      status: 200,
      body: true,
    });
    const { body: taken } = await find(target, "pilot");
    expect(taken).toMatchObject({ user_id: importer.id, params, meta: { extra: { kept: 1 } } });
    expect(taken.created_at).toBeGreaterThan(1_700_000_000);
    // Public sharing is not this importer's to give.
    expect(taken.access_grants).toEqual([]);
    const path = taken.meta.background_image_url;
    expect(path).toMatch(/^\/api\/v1\/files\/[0-9a-f-]{36}\/content$/);
    expect(path).not.toBe(url);
    expect(await bytesOf(target, path, importer)).toEqual(picture);
    expect(await bytesOf(target, taken.meta.profile_image_url)).toEqual(png(2, 2));
    expect(JSON.stringify(taken)).not.toContain("background_image_data");

    const back = (await target.get("export?ids=pilot")).body[0];
    expect(back).toMatchObject({ meta: list[0].meta, background_image_data: list[0].background_image_data });
  });

  it("the same list can come again and again without filling the disk", async () => {
    const models = [form("again", { background_image_data: toDataUri("png", png(5, 5)) })];
    const before = (await stateOf(target)).bytes.length;
    for (let n = 0; n < 3; n++) {
      expect((await target.post("import", { models })).status).toBe(200);
    }
    expect((await stateOf(target)).bytes.length).toBe(before + 1);
    await target.post("import", {
      models: [{ ...models[0], background_image_data: toDataUri("gif", gif(2)) }],
    });
    expect((await stateOf(target)).bytes.length).toBe(before + 1);
    await target.post("model/delete", { id: "again" });
    expect((await stateOf(target)).bytes.length).toBe(before);
  });

  it("all formats of the specification travel", async () => {
    const data = {
      jpeg: toDataUri("jpeg", pixels.jpeg),
      webp: toDataUri("webp", pixels.webp),
      gif: toDataUri("gif", gif(3)),
    };
    const models = Object.entries(data).map(([id, background_image_data]) =>
      form(id, { background_image_data }),
    );
    expect((await target.post("import", { models })).status).toBe(200);
    const { body } = await target.get("export?ids=jpeg&ids=webp&ids=gif");
    expect(body.map((model: { background_image_data: string }) => model.background_image_data)).toEqual(
      Object.values(data),
    );
    expect(target.heard.at(-1)).toMatchObject({ event: "model.imported", data: { count: 3 } });
  });
});

describe("an export", () => {
  it("of a model that the caller may not write is refused as a whole", async () => {
    const strict = await startModels({ BYPASS_ADMIN_ACCESS_CONTROL: "false" });
    const admin = await strict.app.user("admin");
    await strict.post("create", form("own"), admin);
    await strict.post("create", form("readable", { access_grants: [reads(admin)] }));
    const statuses = ["ids=own", "ids=own&ids=readable", "ids=readable", "ids=own&ids=absent"].map(
      async (ids) => (await strict.get(`export?${ids}`, admin)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 403, 403, 403]);
    const all = (await strict.get("export", admin)).body as { id: string }[];
    expect(all.map(({ id }) => id)).toEqual(["own"]);
    await strict.close();
    expect((await source.get("export?ids=absent")).status).toBe(404);
  });

  it("is for administrators, whatever permissions a member has", async () => {
    await source.post("create", form("builders"), builder);
    for (const member of [builder, await source.app.user()]) {
      expect((await source.get("export", member)).status).toBe(403);
      expect((await source.get("export?ids=builders", member)).status).toBe(403);
    }
    expect((await source.get("export?ids=builders")).status).toBe(200);
    expect((await source.app.call("GET /api/v1/models/export")).status).toBe(401);
  });

  it("fails whole with 400 when a background is missing", async () => {
    const id = await upload(source, source.admin, png(2, 2));
    const meta = { background_image_url: `/api/v1/files/${id}/content` };
    await source.post("create", form("faded", { meta }));
    expect((await source.get("export")).status).toBe(200);
    await source.admin.call(`DELETE /api/v1/files/${id}`);
    const { status, body } = await source.get("export");
    expect([status, body.detail]).toEqual([400, 'The background image of the model "faded" is missing.']);
    await source.post("model/delete", { id: "faded" });
  });
});

describe("a sync", () => {
  it("makes the models exactly those of the list", async () => {
    await target.post("import", { models: [form("stays", { params: { seed: 1 } }), form("goes")] });
    const before = (await find(target, "stays")).body;
    const list = [
      form("stays", { name: "Renamed" }),
      form("comes", { background_image_data: toDataUri("png", png(1, 1)) }),
    ];
    const { status, body } = await target.post("sync", { models: list });
    expect(status).toBe(200);
    expect(body.map(({ id }: { id: string }) => id).toSorted()).toEqual(["comes", "stays"]);
    expect((await target.get("all")).body).toEqual(body);
    expect((await find(target, "stays")).body).toMatchObject({
      name: "Renamed",
      params: {},
      user_id: before.user_id,
      created_at: before.created_at,
    });
    expect(target.heard.at(-1)).toMatchObject({ event: "model.synced", actor: { id: target.admin.id } });
    const { rows } = await target.app.running.database.query(
      "select resource_id from access_grant where resource_type = 'model' and resource_id not in ('stays', 'comes')",
    );
    expect(rows).toEqual([]);
    const again = (await target.get("export")).body;
    expect((await target.post("sync", { models: again })).status).toBe(200);
    expect((await target.post("sync", { models: [] })).body).toEqual([]);
  });
});

describe("at once", () => {
  it("two imports of the same models come one after the other, and none is lost", async () => {
    const list = (name: string) =>
      Array.from({ length: 20 }, (_, n) =>
        form(`race-${n}`, { name, background_image_data: toDataUri("png", png(n + 1, name.length)) }),
      );
    const names = ["first", "second!", "third!!!!"];
    const before = (await stateOf(target)).bytes.length;
    const answers = await Promise.all(
      names.map((name, n) =>
        target.post("import", { models: n === 1 ? list(name).toReversed() : list(name) }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const all = (await target.get("all")).body as { name: string }[];
    expect(all.length).toBe(20);
    // All of one import: nothing of another lies between.
    expect(new Set(all.map(({ name }) => name)).size).toBe(1);
    expect((await stateOf(target)).bytes.length).toBe(before + 20);
    expect((await target.get("export")).body.length).toBe(20);
  });

  it("one of two who take the same id gets it", async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => target.post("create", form("one"))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });
});

it("keeps the name of the model as it was sent", async () => {
  const modelOf = async (id: string) => (await find(target, id)).body.model;
  await target.post("create", form("named", { model: "vendor/alpha-large" }));
  await target.post("create", form("unnamed"));
  expect([await modelOf("named"), await modelOf("unnamed")]).toEqual(["vendor/alpha-large", "unnamed"]);
  await target.post("model/update", { id: "named", name: "Another name" });
  expect(await modelOf("named")).toBe("vendor/alpha-large");
  const listed = (await target.get("/api/models")).body.data as { id: string; info: { model: string } }[];
  expect(listed.find(({ id }) => id === "named")?.info.model).toBe("vendor/alpha-large");
  const models = (await target.get("export?ids=named&ids=unnamed")).body as object[];
  expect(models).toMatchObject([{ model: "vendor/alpha-large" }, { model: "unnamed" }]);
  await target.post("import", { models: [{ ...models[0], id: "moved" }] });
  expect(await modelOf("moved")).toBe("vendor/alpha-large");
  await target.post("model/update", { id: "named", model: null });
  expect(await modelOf("named")).toBe("named");
  expect((await target.post("create", form("wrong", { model: 5 }))).status).toBe(422);
});

it("takes in what older exports say about access", async () => {
  const user = await target.app.user();
  const models = [
    form("old-private", { access_control: {} }),
    form("old-public", { access_control: null }),
    form("old-shared", { access_control: { read: { user_ids: [user.id], group_ids: ["none"] }, write: {} } }),
  ];
  expect((await target.post("import", { models })).status).toBe(200);
  const grantsOf = async (id: string) =>
    (await find(target, id)).body.access_grants.map((grant: { principal_id: string }) => grant.principal_id);
  expect([await grantsOf("old-private"), await grantsOf("old-public"), await grantsOf("old-shared")]).toEqual(
    [[], ["*"], [user.id]],
  );
});

it("every entry that an import would refuse is named by place and id, and nothing is written", async () => {
  const before = await stateOf(target);
  const models = [
    form("fine-one"),
    { name: "Nameless" },
    form("fine-one"),
    form("alpha"),
    form("turns", { base_model_id: "turns" }),
    form("heavy", { meta: { background_image_url: "file:///etc" } }),
    form("bare", { params: "hot" }),
  ];
  const { status, body } = await target.post("import/preview", { models });
  expect([status, body.problems.map(({ index, id }: { index: number; id: string }) => [index, id])]).toEqual([
    200,
    [
      [1, null],
      [2, "fine-one"],
      [3, "alpha"],
      [5, "heavy"],
      [6, "bare"],
    ],
  ]);
  expect(body.problems[2].reason).toContain("taken");
  expect(await stateOf(target)).toEqual(before);
});
