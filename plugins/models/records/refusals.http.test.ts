import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { type ModelsApp, reads, startModels, stateOf, upload, writes } from "../models.fixture.ts";
import { png, toDataUri } from "../pictures/pictures.fixture.ts";

const avatarText = "Avatar or animation file is not accessible. Upload it again.";
let source: ModelsApp;
let builder: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  source = await startModels();
  builder = await source.builder();
  stranger = await source.builder();
});
afterAll(() => source.close());

const form = (id: string, more: object = {}) => ({ id, name: id, base_model_id: "alpha", ...more });
/** A model with this meta, or with this picture behind its chats. */
const bad = (meta: object) => form("bad", { meta });
const pictured = (background_image_data: string) => form("bad", { background_image_data });

describe("an import that is refused leaves rows and files as they were", () => {
  const svg = `data:image/svg+xml;base64,${Buffer.from("<svg onload='alert(1)'/>").toString("base64")}`;
  const lie = toDataUri("png", Buffer.from("<svg/>"));
  const good = form("good", { background_image_data: toDataUri("png", png(9, 9)) });
  const refused: [string, (foreign: string) => object[], number][] = [
    ["an SVG", () => [pictured(svg)], 400],
    ["a lie about its format", () => [pictured(lie)], 400],
    [
      "a picture of 25 megapixels and more",
      () => [pictured(toDataUri("png", png(9_000, 9_000, { pixels: false })))],
      400,
    ],
    [
      "a picture of more than 5 MiB",
      () => [pictured(toDataUri("png", Buffer.alloc(5 * 1024 * 1024 + 3)))],
      413,
    ],
    ["a foreign model", () => [form("private", { name: "Taken over" })], 403],
    ["a foreign avatar (S129)", (file) => [bad({ voice_avatar: { file_id: file } })], 403],
    ["an avatar under an id that no file has", () => [bad({ voice_avatar: { file_id: "lost" } })], 403],
    [
      "a foreign animation",
      (file) => [bad({ voice_avatar: { file_id: randomUUID(), states: { idle: { file_id: file } } } })],
      403,
    ],
    ["a foreign background", (file) => [bad({ background_image_url: `/api/v1/files/${file}/content` })], 404],
    ["a foreign file as knowledge", (file) => [bad({ knowledge: [{ type: "file", id: file }] })], 404],
    ["foreign knowledge", () => [bad({ knowledge: [{ type: "collection", id: randomUUID() }] })], 404],
    ["a script as its background", () => [bad({ background_image_url: "javascript:alert(1)" })], 400],
    ["a script as its picture", () => [bad({ profile_image_url: "javascript:alert(1)" })], 400],
    ["an SVG as its picture", () => [bad({ profile_image_url: svg })], 400],
    ["an id twice", () => [form("bad"), form("bad")], 400],
    ["an id that is too long", () => [form("x".repeat(300))], 400],
    [
      "a control without its default",
      () => [
        form("bad", {
          params: {
            model_controls: [{ id: "c", label: "C", default: "x", options: [{ id: "a", label: "A" }] }],
          },
        }),
      ],
      422,
    ],
    ["no id", () => [{ name: "x" }], 422],
  ];
  let foreign: string;
  beforeAll(async () => {
    foreign = await upload(source, stranger, png(3, 3));
    await source.post(
      "create",
      form("private", { meta: { background_image_url: `/api/v1/files/${foreign}/content` } }),
      stranger,
    );
    await source.post("create", form("mine", { name: "Mine" }), builder);
  });

  it.each(refused)("for %s", async (_name, make, status) => {
    const before = await stateOf(source);
    const models = [good, form("mine", { name: "Changed" }), ...make(foreign)];
    const answer = await source.post("import", { models }, builder);
    expect([answer.status, answer.text.includes("/work"), answer.body.detail]).toEqual([
      status,
      false,
      expect.anything(),
    ]);
    if (status === 403 && !answer.text.includes("may not change")) {
      expect(answer.body.detail).toBe(avatarText);
    }
    expect(await stateOf(source)).toEqual(before);
  });

  it("for administrators too, when an avatar is gone; sync as well", async () => {
    const gone = form("gone", { meta: { voice_avatar: { file_id: randomUUID() } } });
    const before = await stateOf(source);
    for (const path of ["import", "sync"]) {
      const answer = await source.post(path, { models: [gone] });
      expect([answer.status, answer.body.detail]).toEqual([403, avatarText]);
    }
    expect(await stateOf(source)).toEqual(before);
  });

  it("for those who may not import or sync at all", async () => {
    const before = await stateOf(source);
    const user = await source.app.user();
    const answers = [
      await source.post("import", { models: [] }, user),
      await source.post("sync", { models: [] }, builder),
      await source.app.call("POST /api/v1/models/sync", { body: { models: [] } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401]);
    expect(await stateOf(source)).toEqual(before);
  });
});

describe("avatars and animations", () => {
  it("travel by their ids, and readers of the model may read them", async () => {
    const files = await Promise.all(
      ["a.vrm", "i.vrma", "w.vrma"].map((name) => upload(source, builder, Buffer.from(name), name)),
    );
    const [figure, idle, wave] = files;
    const avatar = {
      file_id: figure,
      states: { idle: { file_id: idle } },
      gestures: [{ name: "wave", description: "Waves", file_id: wave }],
    };
    const reader = await source.app.user();
    const meta = { voice_avatar: avatar };
    await source.post("create", form("figure", { meta, access_grants: [reads(reader)] }), builder);
    const [exported] = (await source.get("export?ids=figure")).body;
    expect(exported.meta).toEqual(meta);
    const status = async (by: TestUser) =>
      (await Promise.all(files.map((id) => source.get(`/api/v1/files/${id}/content`, by)))).map(
        (answer) => answer.status,
      );
    expect([await status(reader), await status(stranger)]).toEqual([
      [200, 200, 200],
      [404, 404, 404],
    ]);
    expect((await reader.call(`DELETE /api/v1/files/${figure}`)).status).not.toBe(200);

    // A form that knows nothing of avatars keeps it, null removes it.
    const kept = await source.post("model/update", { id: "figure", meta: { description: "x" } }, builder);
    expect(kept.body.meta.voice_avatar).toEqual(avatar);
    const removed = await source.post(
      "model/update",
      { id: "figure", meta: { voice_avatar: null } },
      builder,
    );
    expect(removed.body.meta).toEqual({});
    expect(await status(reader)).toEqual([404, 404, 404]);
  });

  it("of others are refused when a model is saved", async () => {
    const theirs = await upload(source, stranger, Buffer.from("x"), "x.vrm");
    const make = (file_id: string) => form("thief", { meta: { voice_avatar: { file_id } } });
    for (const id of [theirs, randomUUID(), "../../etc/passwd"]) {
      const answer = await source.post("create", make(id), builder);
      expect([answer.status, answer.body.detail]).toEqual([403, avatarText]);
    }
  });

  it("and backgrounds that one only sees through somebody's model are not one's to lend", async () => {
    const [figure, picture] = [
      await upload(source, stranger, Buffer.from("x"), "lent.vrm"),
      await upload(source, stranger, png(4, 4)),
    ];
    const avatar = { voice_avatar: { file_id: figure } };
    const background = { background_image_url: `/api/v1/files/${picture}/content` };
    const theirs = form("theirs", { meta: { ...avatar, ...background }, access_grants: [writes(builder)] });
    await source.post("create", theirs, stranger);
    expect((await source.get(`/api/v1/files/${figure}/content`, builder)).status).toBe(200);
    const lend = async (path: string, meta: object, by = builder) => {
      const model = form("lender", { meta });
      return (await source.post(path, path === "import" ? { models: [model] } : model, by)).status;
    };
    expect([await lend("create", avatar), await lend("import", avatar)]).toEqual([403, 403]);
    expect([await lend("create", background), await lend("import", background)]).toEqual([404, 404]);

    // The record that shows them keeps them, whoever writes it.
    const again = form("theirs", { name: "Renamed", meta: { ...avatar, ...background } });
    expect((await source.post("model/update", again, builder)).status).toBe(200);
    expect((await source.post("import", { models: [again] }, builder)).status).toBe(200);
    expect(await lend("create", { ...avatar, ...background }, source.admin)).toBe(200);
  });
});
