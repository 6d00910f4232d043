import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { report } from "#test/support/faults.ts";
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
  expect(patch.answer.body.members).toHaveLength(size - 1);
  const wrong = [...members, { value: "nobody" }];
  expect(refused(await provider.call(`PUT /Groups/${id}`, { displayName: "All", members: wrong }))).toEqual([
    400,
    "invalidValue",
  ]);
  report("S151", `group of ${size}`, { post: post.ms, put: put.ms, get: get.ms, patch: patch.ms });
  expect(put.ms).toBeLessThan(30_000);
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
