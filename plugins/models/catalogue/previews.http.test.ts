import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestUser } from "#test/support/app.ts";
import { everybody, type ModelsApp, reads, startModels } from "../models.fixture.ts";

let models: ModelsApp;
let member: TestUser;
let group: string;

beforeAll(async () => {
  models = await startModels();
  member = await models.app.user();
  group = (await models.post("/api/v1/groups/create", { name: "Testers" })).body.id;
  const toGroup = { ...everybody, principal_type: "group", principal_id: group };
  for (const [id, access_grants] of Object.entries({
    open: [everybody],
    ours: [toGroup],
    hers: [reads(member)],
  })) {
    const model = { id, name: id.toUpperCase(), base_model_id: null, meta: {}, params: {}, access_grants };
    // Records of models that a provider offers, so that nothing else decides who may use them.
    models.upstream.models = [...models.upstream.models, id];
    expect((await models.post("/api/v1/models/create", model)).status).toBe(200);
  }
  await models.get("/api/models?refresh=true");
});
afterAll(() => models?.close());

const preview = async (path: string) => {
  const { body } = await models.get(path);
  return {
    ...body,
    models: body.models.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`),
  };
};

describe("what somebody can read", () => {
  it("is told for the members of a group: what it was given, and what everybody was", async () => {
    expect(await preview(`/api/v1/groups/id/${group}/preview`)).toEqual({
      models: ["open OPEN", "ours OURS"],
      knowledge: [],
      tools: [],
    });
  });

  it("is told for an account, as the account itself sees it", async () => {
    const path = `/api/v1/users/${member.id}/preview`;
    expect((await preview(path)).models).toEqual(["hers HERS", "open OPEN"]);
    await models.post(`/api/v1/groups/id/${group}/users/add`, { user_ids: [member.id] });
    expect((await preview(path)).models).toEqual(["hers HERS", "open OPEN", "ours OURS"]);
    expect(await models.listed(member)).toEqual(["hers", "open", "ours"]);
    const pending = await models.app.user("pending");
    expect((await preview(`/api/v1/users/${pending.id}/preview`)).models).toEqual([]);
  });

  it("is for administrators, and unknown ids are unknown", async () => {
    for (const path of [`/api/v1/groups/id/${group}/preview`, `/api/v1/users/${member.id}/preview`]) {
      expect((await models.get(path, member)).status).toBe(403);
      expect((await models.get(path.replace(group, "gone").replace(member.id, "gone"))).status).toBe(404);
    }
  });
});
