import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
let owner: TestUser;
let member: TestUser;
let admin: TestUser;

beforeAll(async () => {
  app = await useApp({ env: { ENABLE_GUIDE: "true" } });
  admin = await app.admin();
});
beforeEach(async () => {
  owner = await app.user();
  member = await app.user();
  const permissions = { sharing: { folders: true, models: true }, workspace: { models: true } };
  await makeGroup(`Sharers ${owner.id}`, { share: false, members: [owner], permissions });
});
afterAll(() => app?.close());

async function post(path: string, body: unknown, by = owner) {
  const answer = await by.call(`POST /api/v1${path}`, body);
  expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
  return answer.body;
}

async function makeGroup(
  name: string,
  { share, members = [], permissions }: { share?: unknown; members?: TestUser[]; permissions?: object },
): Promise<string> {
  const data = share === undefined ? null : { config: { share } };
  const { id } = await post("/groups/create", { name, description: "", permissions, data }, admin);
  await post(`/groups/id/${id}/users/add`, { user_ids: members.map((user) => user.id) }, admin);
  return id;
}

type Grant = { principal_id: string };
type Share = (grants: unknown[], by?: TestUser) => Promise<Grant[]>;

/** Each makes a thing of the owner and answers how it is shared. */
const kinds: [string, () => Promise<Share>][] = [
  [
    "a chat",
    async () => {
      const { id } = await post("/chats/new", {
        chat: { title: "A chat", models: [], history: { currentId: null, messages: {} } },
      });
      await post(`/chats/${id}/share`, {});
      return async (access_grants) =>
        (await post(`/chats/shared/${id}/access/update`, { access_grants })).access_grants;
    },
  ],
  [
    "a folder",
    async () => {
      const { id } = await post("/folders/", { name: "A folder" });
      return async (access_grants) =>
        (await post(`/folders/${id}/access/update`, { access_grants })).access_grants;
    },
  ],
  [
    "a model",
    async () => {
      const id = `model-${crypto.randomUUID()}`;
      await post("/models/create", { id, name: id, base_model_id: "guide" });
      return async (access_grants, by) =>
        (await post("/models/model/access/update", { id, access_grants }, by)).access_grants;
    },
  ],
];

const toGrant = (id: string) => ({ principal_type: "group", principal_id: id, permission: "read" });
const idsOf = (grants: Grant[]) => grants.map(({ principal_id }) => principal_id);

describe.each(kinds)("%s is shared", (_kind, make) => {
  it("with groups that let the sharer, and with no others", async () => {
    const share = await make();
    const name = (text: string) => `${text} ${owner.id}`;
    const [open, own, foreign, closed, unsaid] = [
      await makeGroup(name("Open"), { share: true, members: [member] }),
      await makeGroup(name("Own"), { share: "members", members: [owner] }),
      await makeGroup(name("Foreign"), { share: "members", members: [member] }),
      await makeGroup(name("Closed"), { share: false, members: [owner] }),
      await makeGroup(name("Unsaid"), { members: [member] }),
    ];
    const given = await share([open, own, foreign, closed, unsaid, "ghost"].map(toGrant));
    expect(idsOf(given).toSorted()).toEqual([open, own].toSorted());
  });

  it("on with those that had it, whoever may share with them now", async () => {
    const share = await make();
    const group = await makeGroup(`Team ${owner.id}`, { share: "members", members: [owner] });
    expect(idsOf(await share([toGrant(group)]))).toEqual([group]);
    await post(`/groups/id/${group}/users/remove`, { user_ids: [owner.id] }, admin);
    expect(idsOf(await share([toGrant(group)]))).toEqual([group]);
    expect(await share([])).toEqual([]);
    expect(await share([toGrant(group)])).toEqual([]);
  });
});

it("administrators share with every group", async () => {
  const share = await kinds[2]![1]();
  const closed = await makeGroup(`Closed to all ${owner.id}`, { share: false });
  expect(idsOf(await share([toGrant(closed)], admin))).toEqual([closed]);
});
