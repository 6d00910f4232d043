import { Client } from "pg";
import { startPostgres } from "../../test/support/postgres.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import type { Bench } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const goal = "P25";
const token = "bench-scim-token-0123456789abcdef";
const base = "/api/v1/scim/v2";
const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

/** An identity provider of a large organisation: finding accounts, and large groups, on a Postgres server. */
export const provisioning: Scenario = {
  id: goal,
  title: "SCIM with 100,000 accounts and a group of 10,000, on Postgres",
  async run(bench) {
    const server = await startPostgres();
    try {
      const env = { DATABASE_URL: server.url, SCIM_ENABLED: "true", SCIM_TOKEN: token };
      const running = await millrace({ env }).start(bench.mock.port);
      try {
        return await measure(bench, running, server.url);
      } finally {
        await running.stop();
      }
    } finally {
      await server.stop();
    }
  },
};

async function measure(bench: Bench, running: Running, url: string) {
  const [accounts, members, times] = bench.isQuick ? [10_000, 1_000, 50] : [100_000, 10_000, 400];
  await addAccounts(url, accounts);
  const filters: Record<string, (n: number) => string> = {
    "userName eq": (n) => `userName eq "P${n}@many.test"`,
    "userName sw": (n) => `userName sw "p${n}@"`,
    "externalId eq": (n) => `externalId eq "ext-${n}"`,
    "userName eq, and active": (n) => `userName eq "p${n}@many.test" and active eq true`,
    // Providers do not ask so; every account is looked at.
    "displayName co": (n) => `displayName co "son ${n} "`,
  };
  const findings = [];
  for (const [what, toFilter] of Object.entries(filters)) {
    const took: number[] = [];
    for (let step = 0; step < times; step += 1) {
      const filter = encodeURIComponent(toFilter(1 + ((step * 7_919) % accounts)));
      const { ms, body } = await call(running, `GET ${base}/Users?filter=${filter}`);
      if (body["totalResults"] !== 1) {
        throw new Error(`${what} found ${body["totalResults"]} accounts instead of one.`);
      }
      took.push(ms);
    }
    findings.push({
      goal,
      what: `one of ${accounts} accounts by ${what}, p95`,
      values: [quantile(took, 0.95)],
      ...(!what.endsWith(" co") && { atMost: 50 }),
      unit: " ms",
      detail: `median ${quantile(took, 0.5).toFixed(1)} ms`,
    });
  }
  findings.push(...(await measureGroup(running, { members, rounds: Math.max(3, bench.rounds) })));
  return findings;
}

async function measureGroup(running: Running, { members, rounds }: { members: number; rounds: number }) {
  const all = Array.from({ length: members }, (_, n) => ({ value: `p${n + 1}` }));
  const toGroup = (own: typeof all) => ({ schemas: [groupSchema], displayName: "Everybody", members: own });
  const { body: made } = await call(running, `POST ${base}/Groups`, toGroup([]));
  const put = (own: typeof all) => call(running, `PUT ${base}/Groups/${made["id"]}`, toGroup(own));
  const took: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await put([]);
    const { ms, body } = await put(all);
    if ((body["members"] as unknown[]).length !== members) {
      throw new Error("The group has not all its members.");
    }
    took.push(ms);
  }
  return [
    { goal, what: `PUT of a group of ${members} members`, values: took, atMost: 3_000, unit: " ms" } as const,
  ];
}

/** By statements over sets: 100,000 calls would take longer than all else here. */
async function addAccounts(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into "user" (id, email, role, name, scim, last_active_at, updated_at, created_at)
     select 'p' || n, 'p' || n || '@many.test', 'user', 'Person ' || n || ' X',
       jsonb_build_object('external_id', 'ext-' || n), 1, 1, 1
     from generate_series(1, ${count}) as n`,
  );
  await client.query("vacuum analyze");
  await client.end();
}

async function call(
  { port }: Running,
  route: string,
  body?: object,
): Promise<{ ms: number; body: Record<string, unknown> }> {
  const [method = "GET", path = "/"] = route.split(" ");
  const from = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) {
    throw new Error(`${route} answered ${answer.status}: ${text.slice(0, 300)}`);
  }
  return { ms: performance.now() - from, body: JSON.parse(text) as Record<string, unknown> };
}
