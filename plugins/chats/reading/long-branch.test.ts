// Takes long: an embedded database is filled, whose planner has no statistics yet.
import { afterAll, beforeAll, expect, it } from "vitest";
import { toMigrationSets } from "#kernel/release.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import { catalogue } from "#plugins/catalogue.ts";
import type { Database } from "#storage/database.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { createBranches } from "./branches.ts";
import { createContext } from "../context.ts";
import { readBranch } from "./read-branch.ts";
import type { ChatDatabase } from "../tables.ts";

// An embedded database that has counted nothing yet: it plans as if every chat were short.
let database: Database;
let db: ChatDatabase;
const length = 400;

beforeAll(async () => {
  database = await openTestDatabase(toMigrationSets(orderPlugins(catalogue, kernelServiceIds)), "embedded");
  db = database.db as unknown as ChatDatabase;
  await database.query(`insert into "user" (id, email, name, role, created_at, updated_at, last_active_at)
    values ('u', 'u@example.com', 'U', 'user', 1, 1, 1)`);
  await database.query(`insert into chat (id, user_id, title, chat, created_at, updated_at)
    values ('c', 'u', 'Long', '{}', 1, 1)`);
  await database.query(`insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, extra, created_at, updated_at)
    select 'c', 'u', 'm' || n, nullif('m' || n - 1, 'm0'), 0, case when n % 2 = 1 then 'user' else 'assistant' end,
      to_jsonb('message ' || n), '{}', n, n from generate_series(1, ${length}) as n`);
});
afterAll(() => database?.close());

/** Rows of messages that the database looked at meanwhile. */
async function rowsRead(run: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    await database.query("select pg_stat_force_next_flush()");
    const { rows } = await database.query(
      `select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'chat_message'`,
    );
    return Number(rows[0]!["read"]);
  };
  const before = await count();
  await run();
  return (await count()) - before;
}

it.each([
  [
    "the messages of a branch",
    async () => expect(await readBranch(db, "c", { leaf: `m${length}` })).toHaveLength(length),
  ],
  [
    "the sizes of a branch",
    async () => expect(await createContext(db).contextSteps("c", `m${length}`)).toHaveLength(length),
  ],
  ["a page of it", async () => expect((await page()).messages).toHaveLength(100)],
])("reads each message of a long chat a few times at most: %s", async (_what, read) => {
  expect(await rowsRead(read)).toBeLessThan(10 * length);
});

it.each([
  [{}, 1, length],
  [{ limit: 10 }, length - 9, 10],
  [{ limit: 64 }, length - 63, 64],
  [{ limit: 65 }, length - 64, 65],
  [{ limit: 200 }, length - 199, 200],
  // Summaries stand at 100, 250 and the leaf, whose own says nothing about what is before it.
  [{ sinceSummary: true }, 250, length - 249],
  [{ sinceSummary: true, limit: 100 }, length - 99, 100],
  [{ sinceSummary: true, limit: 300 }, 250, length - 249],
  [{ sinceSummary: true, leaf: "m260" }, 250, 11],
  [{ sinceSummary: true, leaf: "m240" }, 100, 141],
  [{ sinceSummary: true, leaf: "m250" }, 100, 151],
  [{ sinceSummary: true, leaf: "m90" }, 1, 90],
  [{ leaf: "nobody" }, 0, 0],
])("reads the messages that are wished for: %j", async (wish, first, count) => {
  await database.query(
    `update chat_message set context_summary = 'so far' where chat_id = 'c' and id in ('m100', 'm250', 'm${length}')`,
  );
  await database.query(`insert into chat_message (chat_id, user_id, id, parent_id, position, role, content, extra, created_at, updated_at)
    values ('c', 'u', 'side', 'm255', -1, 'assistant', '"beside"', '{}', 9999, 9999) on conflict do nothing`);
  const branch = await readBranch(db, "c", { leaf: `m${length}`, ...wish });
  expect(branch.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, at) => `m${first + at}`));
  for (const { id, parentId, childrenIds } of branch) {
    const at = Number(id.slice(1));
    expect([parentId, childrenIds]).toEqual([
      at === 1 ? null : `m${at - 1}`,
      at === length ? [] : at === 255 ? ["side", "m256"] : [`m${at + 1}`],
    ]);
  }
});

async function page() {
  const chats = { load: async () => ({ id: "c", current_message_id: `m${length}` }) };
  const branches = createBranches({ db, chats: chats as never });
  return JSON.parse(String(await branches.page({} as never, "c", { limit: 100 }))) as { messages: unknown[] };
}
