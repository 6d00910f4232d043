import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { everybody, type ModelsApp, reads, startModels, writes } from "../models.fixture.ts";
import { png, toDataUri } from "../pictures/pictures.fixture.ts";

let at: ModelsApp;
let owner: TestUser;
let other: TestUser;

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });

beforeAll(async () => {
  at = await startModels();
  [owner, other] = [await at.builder(), await at.builder()];
  const tags = (...names: string[]) => ({ tags: names.map((name) => ({ name })) });
  await at.post(
    "create",
    form("cook", { name: "Cook", meta: { ...tags("food"), description: "100% soup" } }),
    owner,
  );
  await at.post(
    "create",
    form("baker", { meta: tags("food", "sweet"), access_grants: [reads(other)] }),
    owner,
  );
  await at.post("create", form("smith", { meta: tags("iron"), access_grants: [writes(other)] }), owner);
  await at.post("create", form("theirs", { meta: { tags: null } }), other);
  await at.post("create", { id: "alpha", name: "Alpha", base_model_id: null, meta: tags("base") });
});
afterAll(() => at.close());

const page = async (query = "", by = owner) => (await at.get(`list${query}`, by)).body;
const ids = async (query = "", by = owner) =>
  (await page(query, by)).items.map(({ id }: { id: string }) => id) as string[];

describe("the list of workspace models", () => {
  it.each<[string, () => TestUser, string[]]>([
    ["its author", () => owner, ["baker", "cook", "smith"]],
    ["those it is shared with", () => other, ["baker", "smith", "theirs"]],
    ["administrators", () => at.admin, ["baker", "cook", "smith", "theirs"]],
  ])("holds what %s may see", async (_name, who, expected) => {
    expect(await ids("?order_by=name", who())).toEqual(expected);
    expect((await page("", who())).total).toBe(expected.length);
  });

  it.each<[string, string[]]>([
    ["?view_option=created", ["theirs"]],
    ["?view_option=shared", ["baker", "smith"]],
    ["?tag=food", ["baker"]],
    ["?tag=none", []],
    ["?query=SMI", ["smith"]],
    ["?query=%25", []],
    ["?query=alpha&order_by=name&direction=desc", ["theirs", "smith", "baker"]],
    ["?page=2", []],
  ])("%s", async (query, expected) => {
    const order = query.includes("order_by") ? "" : "&order_by=name";
    expect(await ids(query + order, other)).toEqual(expected);
  });

  it("finds a sign that means something to the database as itself", async () => {
    expect(await ids("?query=0%25%20s")).toEqual(["cook"]);
    expect(await ids("?query=_ook")).toEqual([]);
  });

  it("says who may change what", async () => {
    const { items } = await page("?order_by=name", other);
    expect(
      items.map((item: { write_access: boolean; access_grants?: object }) => [
        item.write_access,
        "access_grants" in item,
      ]),
    ).toEqual([
      [false, false],
      [true, true],
      [true, true],
    ]);
    expect(items[0].user).toEqual({ id: owner.id, name: owner.name, email: owner.email, role: "user" });
  });

  it.each(["?page=0", "?page=x", "?order_by=password", "?direction=up", "?view_option=all", "?query=%00"])(
    "%s is refused",
    async (query) => {
      expect((await at.get(`list${query}`)).status).toBe(422);
    },
  );

  it("comes in pages of thirty that neither repeat nor skip", async () => {
    const models = Array.from({ length: 61 }, (_, n) => form(`many-${String(n).padStart(2, "0")}`));
    await at.post("import", { models });
    const pages = [
      await ids("?query=many-&page=1", at.admin),
      await ids("?query=many-&page=2", at.admin),
      await ids("?query=many-&page=3", at.admin),
    ];
    expect(pages.map(({ length }) => length)).toEqual([30, 30, 1]);
    expect(new Set(pages.flat()).size).toBe(61);
  });
});

it("tags are those of the models that one may see", async () => {
  expect((await at.get("tags", owner)).body).toEqual(["food", "iron", "sweet"]);
  expect((await at.get("tags", await at.app.user())).body).toEqual([]);
  expect((await at.get("base/tags")).body).toEqual(["base"]);
  expect((await at.get("base/tags", owner)).status).toBe(403);
});

describe("the picture of a model", () => {
  const path = (id: string) => `model/profile/image?id=${encodeURIComponent(id)}`;
  const picture = png(3, 3);

  it("is served with a tag, kept when the record is sent back, and not shown to strangers", async () => {
    const meta = { profile_image_url: toDataUri("png", picture) };
    const made = await at.post("create", form("painted", { meta }), owner);
    expect(made.body.meta.profile_image_url).toBe(`/api/v1/models/${path("painted")}`);
    const answer = await at.get(path("painted"), owner);
    expect([
      answer.status,
      answer.headers.get("content-type"),
      answer.headers.get("x-content-type-options"),
    ]).toEqual([200, "image/png", "nosniff"]);
    const etag = answer.headers.get("etag") as string;
    const again = await owner.call(`GET /api/v1/models/${path("painted")}`, undefined, {
      "if-none-match": etag,
    });
    expect(again.status).toBe(304);
    const sentBack = await at.post("model/update", { id: "painted", meta: made.body.meta }, owner);
    expect(sentBack.body.meta).toEqual(made.body.meta);
    expect((await at.get(path("painted"), owner)).headers.get("etag")).toBe(etag);

    const hidden = await at.get(path("painted"), await at.app.user());
    const absent = await at.get(path("no such model"), owner);
    expect(hidden.text).toBe(absent.text);
    expect(hidden.headers.get("etag")).not.toBe(etag);
    await at.post("model/update", { id: "painted", meta: {} }, owner);
    expect((await at.get(path("painted"), owner)).text).toBe(absent.text);
  });

  it("elsewhere is redirected to, where the instance allows it", async () => {
    const meta = { profile_image_url: "https://pictures.example.test/a.png" };
    await at.post("create", form("linked", { meta, access_grants: [everybody] }));
    const answer = await at.get(path("linked"), at.admin);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, meta.profile_image_url]);
    const strict = await startModels({ ENABLE_PROFILE_IMAGE_URL_FORWARDING: "false" });
    await strict.post("create", form("linked", { meta }));
    expect((await strict.get(path("linked"))).status).toBe(200);
    await strict.close();
  });
});

describe("what a record may say", () => {
  const control = (more: object) => ({ id: "c", label: "C", options: [{ id: "a", label: "A" }], ...more });
  const controls = (...all: object[]) => ({ params: { model_controls: all.map(control) } });
  it.each<[string, object, string]>([
    ["a control without options", controls({ options: [] }), "options"],
    ["a default that is no option", controls({ default: "b" }), "default"],
    ["a control twice", controls({}, {}), "model_controls.1.id"],
    ["an option twice", controls({ options: ["a", "a"].map((id) => ({ id, label: "" })) }), "options.1.id"],
    ["a control without an id", controls({ id: " " }), "model_controls.0.id"],
    ["controls that are no list", { params: { model_controls: { c: 1 } } }, "model_controls"],
    [
      "an option whose params are no object",
      controls({ options: [{ id: "a", label: "", params: "x" }] }),
      "options.0.params",
    ],
    ["a temperature of words", { params: { temperature: "hot" } }, "params.temperature"],
    ["tokens in halves", { params: { max_tokens: 1.5 } }, "params.max_tokens"],
    ["a prompt that is no text", { params: { system: { a: 1 } } }, "params.system"],
    ["params that are a list", { params: [] }, "params"],
    ["meta that is a text", { meta: "x" }, "meta"],
    ["capabilities of numbers", { meta: { capabilities: { vision: 1 } } }, "meta.capabilities"],
    ["tags that are numbers", { meta: { tags: [1] } }, "meta.tags"],
    [
      "an avatar with a setting nobody knows",
      { meta: { voice_avatar: { file_id: crypto.randomUUID(), scale: 2 } } },
      "voice_avatar",
    ],
    ["a NUL in its prompt", { params: { system: "a\0b" } }, ""],
    ["half a character", { meta: { description: "\ud800" } }, ""],
    [
      "a grant without a meaning",
      { access_grants: [{ ...everybody, permission: "own" }] },
      "access_grants.0.permission",
    ],
    ["a name of spaces", { name: "  " }, "name"],
  ])("not %s", async (_name, more, place) => {
    for (const [path, loc] of [
      ["create", ["body"]],
      ["import", ["body", "models", 0]],
    ] as const) {
      const bad = form("bad", more);
      const { status, body } = await at.post(path, path === "create" ? bad : { models: [bad] });
      expect(status).toBe(422);
      const places = body.detail.map((problem: { loc: unknown[] }) => problem.loc.join("."));
      // What concerns the whole text is said of the whole body.
      const expected = place === "" ? "body" : [...loc, place].join(".");
      expect(places.some((found: string) => found.startsWith(expected) || found.endsWith(place))).toBe(true);
    }
    expect((await at.get("model?id=bad")).status).toBe(404);
  });

  it("a backslash before a u is no NUL", async () => {
    const params = { system: String.raw`C:\u0000 \\u0000` };
    expect((await at.post("create", form("path", { params }))).body.params).toEqual(params);
  });

  it("keys that nobody here knows, kept as they are", async () => {
    const more = {
      meta: {
        capabilities: ["vision", "usage"],
        context_length: 4096,
        terminalId: "t1",
        own: [1, { two: null }],
      },
      params: {
        num_ctx: 2048,
        mirostat: 1,
        own: "x",
        model_controls: [control({ default: "a", hint: "?" })],
      },
    };
    const { body } = await at.post("create", form("free", more));
    expect(body).toMatchObject(more);
    expect((await at.get("model?id=free")).body).toEqual(body);
  });
});
