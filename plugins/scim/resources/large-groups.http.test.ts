import { Kysely, PostgresDialect } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { report } from "#test/support/faults.ts";
import { parseFilter } from "../filter/parse.ts";
import { toCondition } from "../filter/to-sql.ts";
import { refused, type ScimClient, scimClient, startScim } from "../scim.fixture.ts";

// protocols.md A, S151: a group of 10,000 members, by statements over sets.

const size = 10_000;
let app: App;
let provider: ScimClient;

beforeAll(async () => {
  app = await startScim();
  await app.admin();
  provider = scimClient(app.url);
  await app.running.database.query(
    `insert into "user" (id, email, role, name, last_active_at, updated_at, created_at)
     select 'm' || n, 'm' || n || '@many.test', 'user', 'Member ' || n, 1, 1, 1 from generate_series(1, ${size}) as n`,
  );
});

afterAll(() => app?.close());

it(`a group of ${size} members is made, replaced and read`, { timeout: 120_000 }, async () => {
  const members = Array.from({ length: size }, (_, n) => ({ value: `m${n + 1}` }));
  const timed = async <T>(run: () => Promise<T>) => {
    const started = performance.now();
    return { answer: await run(), ms: Math.round(performance.now() - started) };
  };
  const post = await timed(() => provider.call("POST /Groups", { displayName: "Everybody", members }));
  expect(post.answer.status).toBe(201);
  const { id } = post.answer.body;
  const half = members.slice(0, size / 2);
  expect(
    (await provider.call(`PUT /Groups/${id}`, { displayName: "Everybody", members: half })).body.members,
  ).toHaveLength(size / 2);
  const put = await timed(() => provider.call(`PUT /Groups/${id}`, { displayName: "All", members }));
  expect([put.answer.status, put.answer.body.members.length]).toEqual([200, size]);
  const get = await timed(() => provider.call(`GET /Groups/${id}`));
  expect(get.answer.body.members).toHaveLength(size);
  const patch = await timed(() =>
    provider.patch(`/Groups/${id}`, { op: "remove", path: 'members[value eq "m7"]' }),
  );
  expect([patch.answer.status, patch.answer.text]).toEqual([204, ""]);
  expect((await provider.call(`GET /Groups/${id}`)).body.members).toHaveLength(size - 1);
  const wrong = [...members, { value: "nobody" }];
  expect(refused(await provider.call(`PUT /Groups/${id}`, { displayName: "All", members: wrong }))).toEqual([
    400,
    "invalidValue",
  ]);
  report("S151", `group of ${size}`, { post: post.ms, put: put.ms, get: get.ms, patch: patch.ms });
  expect(put.ms).toBeLessThan(30_000);
});

/** What the database did for one PATCH: how many rows it read of the members of groups. */
async function rowsRead(run: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    // Counters are written when a session is at rest for a second, or at once where it is asked to.
    await app.running.database.query("select pg_stat_force_next_flush()");
    const { rows } = await app.running.database.query(
      `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
       from pg_stat_user_tables where relname = 'group_member'`,
    );
    return (rows[0] as { read: number }).read;
  };
  const before = await count();
  await run();
  return (await count()) - before;
}

it("adding one member costs the same in a group of any size", { timeout: 120_000 }, async () => {
  const small = await provider.group("Small", ["m1"]);
  const members = Array.from({ length: size - 1 }, (_, n) => `m${n + 1}`);
  const large = await provider.group("Large", members);
  const add = (id: string, value: string) =>
    provider.patch(`/Groups/${id}?excludedAttributes=members`, {
      op: "add",
      path: "members",
      value: [{ value }],
    });
  expect((await add(small.id, "m2")).body.members).toBeUndefined();
  const [few, many] = [
    await rowsRead(() => add(small.id, "m3")),
    await rowsRead(() => add(large.id, `m${size}`)),
  ];
  expect(many).toBeLessThanOrEqual(few + 5);
});

it("ten thousand operations are one request", { timeout: 120_000 }, async () => {
  const { id } = await provider.group("By operations");
  const names = Array.from({ length: size - 1 }, (_, n) => `m${n + 1}`);
  const added = await provider.patch(
    `/Groups/${id}`,
    ...names.map((value) => ({ op: "add", path: "members", value: [{ value }] })),
    { op: "replace", value: { displayName: "By many operations" } },
  );
  expect(added.status).toBe(204);
  const removed = await provider.patch(
    `/Groups/${id}`,
    ...names.slice(5).map((value) => ({ op: "remove", path: `members[value eq "${value}"]` })),
    { op: "add", value: { externalId: "many", members: [{ value: "m9" }] } },
  );
  expect(removed.body).toMatchObject({ displayName: "By many operations", externalId: "many" });
  const ids = removed.body.members.map(({ value }: { value: string }) => value);
  expect(ids.toSorted()).toEqual(["m1", "m2", "m3", "m4", "m5", "m9"]);
});

it.each([
  'emails.value eq "M77@many.test"',
  'emails[type eq "work" and value eq "m77@many.test"]',
  'emails[type eq "work"].value eq "m77@MANY.test"',
])("%s is found by an index", async (filter) => {
  const condition = toCondition("User", parseFilter(filter));
  const { sql: text, parameters } = condition.compile(
    new Kysely({ dialect: new PostgresDialect({} as never) }),
  );
  const { rows } = await app.running.database.query(`explain select id from "user" where ${text}`, [
    ...parameters,
  ]);
  expect(JSON.stringify(rows)).toContain("user_scim_emails");
  expect(JSON.stringify(rows)).not.toContain("Seq Scan");
  expect(await provider.find("Users", filter)).toEqual(["m77@many.test"]);
});

it("an account is found by its address among very many", { timeout: 120_000 }, async () => {
  const times: number[] = [];
  for (let n = 1; n <= 40; n++) {
    const started = performance.now();
    expect(await provider.find("Users", `userName eq "M${n * 100}@many.test"`)).toHaveLength(1);
    times.push(performance.now() - started);
  }
  const sorted = times.toSorted((a, b) => a - b);
  report("S86", `${size} accounts`, { "p95 ms": Math.round(sorted[37] as number) });
});
