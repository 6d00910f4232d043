import { afterAll, beforeAll, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { curator, type KnowledgeClient } from "./knowledge.fixture.ts";

let app: App;
let admin: TestUser;
let owner: KnowledgeClient;

beforeAll(async () => {
  app = await useApp();
  admin = await app.admin();
  owner = await curator(app);
});
afterAll(() => app?.close());

/** Asks the index itself, as a model's search does. */
async function ask(collection: string, query: string, token = owner.user.token) {
  const body = { collection_names: [collection], query };
  return await app.call("POST /api/v1/retrieval/query/collection", { token, body });
}

const found = async (collection: string, query: string) => (await ask(collection, query)).body.documents[0];

it("the index knows what lies in a collection, and forgets what is taken out", async () => {
  const id = await owner.make("Handbook");
  const eels = await owner.file("eels.md", "Eels are caught with wicker traps.");
  const otters = await owner.file("otters.md", "Otters live below the weir.");
  await owner.call(`POST /${id}/file/add`, { file_id: eels });
  expect(await found(id, "wicker traps")).toEqual(["Eels are caught with wicker traps."]);
  expect(await found(id, "otters below the weir")).not.toContain("Otters live below the weir.");

  await owner.call(`POST /${id}/file/add`, { file_id: otters });
  expect(await found(id, "otters below the weir")).toContain("Otters live below the weir.");
  await owner.call(`POST /${id}/file/remove`, { file_id: eels });
  expect(await found(id, "wicker traps")).not.toContain("Eels are caught with wicker traps.");
  // The file stays its owner's, and findable by itself.
  expect(await found(`file-${eels}`, "wicker traps")).toEqual(["Eels are caught with wicker traps."]);

  await owner.call(`POST /${id}/reset`);
  expect(await found(id, "otters")).toEqual([]);
});

it("a deleted collection leaves nothing in the index, and who asks it is told", async () => {
  const { id } = await owner.filled("Old rules", ["rule.md"]);
  expect(await found(id, "rule")).toHaveLength(1);
  expect((await ask(id, "rule", admin.token)).body.documents[0]).toHaveLength(1);
  expect((await owner.call(`DELETE /${id}/delete`)).status).toBe(200);
  expect((await ask(id, "rule")).status).toBe(404);
  const told = await ask(id, "rule", admin.token);
  expect([told.status, told.text]).toEqual([404, expect.stringContaining("This collection was deleted")]);
  const { rows } = await app.running.database.query(
    "select (select count(*) from retrieval_member where collection = $1) + (select count(*) from retrieval_term where collection = $1) + (select count(*) from retrieval_collection where name = $1) as rows",
    [id],
  );
  expect(Number(rows[0]?.["rows"])).toBe(0);
});
