import { afterAll, beforeAll, expect, it } from "vitest";
import { toMigrationSets } from "#kernel/release.ts";
import { orderPlugins } from "#kernel/order.ts";
import { kernelServiceIds } from "#kernel/parts.ts";
import { createSeal } from "#kernel/seal.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { type Database, openDatabase } from "#storage/database.ts";
import { prepareTestDataDir, type TestDataDir } from "#storage/testing.ts";
import { openEgress } from "#test/support/egress.ts";
import { createServerFetch } from "../client/server-fetch.ts";
import type { McpDatabase } from "../tables.ts";
import { createClientStore, createFlowStore } from "./flow-store.ts";
import { type ProtectedServer, startProtectedServer } from "./protected-server.fixture.ts";
import { createSessionStore } from "./session-store.ts";
import { createSignIns } from "./sign-ins.ts";
import { createOAuthCredential } from "./tokens.ts";

let place: TestDataDir;
let databases: Database[];
let vault: ProtectedServer;
const seal = createSeal("a secret of this test, long enough", "oauth-session");
const egress = openEgress({ timeoutSeconds: () => 10 });
const dbOf = (database: Database) => database.db as unknown as McpDatabase;

beforeAll(async () => {
  const sets = toMigrationSets(orderPlugins(catalogue, kernelServiceIds));
  [place, vault] = await Promise.all([prepareTestDataDir({ sets }, "server"), startProtectedServer()]);
  const { DATABASE_URL: url, DATA_DIR: dataDir } = place.env;
  const open = () => openDatabase({ url, dataDir: dataDir!, pool: { size: 3 }, disposable: true });
  databases = [await open(), await open()];
  await databases[0]!
    .query(`insert into "user" (id, email, name, role, created_at, updated_at, last_active_at)
    values ('ann', 'ann@example.com', 'Ann', 'user', 1, 1, 1)`);
});
afterAll(async () => {
  await Promise.all((databases ?? []).map((database) => database.close()));
  await egress.close();
  await vault?.close();
  await place?.remove();
});

it("renews a token once for two processes that need it at the same time", async () => {
  const db = dbOf(databases[0]!);
  const fetchServer = createServerFetch({ egress, trustedOrigins: [vault.origin] });
  const target = {
    userId: "ann",
    provider: "mcp:vault",
    url: vault.url,
    fetchServer,
    authorizationServerUrl: undefined,
    scope: undefined,
    registration: undefined,
  };
  const replicas = databases.map((database) => createSessionStore(dbOf(database), seal));
  const signIns = createSignIns({
    sessions: replicas[0]!,
    flows: createFlowStore(db, seal),
    clients: createClientStore(db, seal),
    name: () => "Millrace",
    resourceMode: () => "automatic",
  });
  const redirectUrl = "http://127.0.0.1:1/oauth/clients/mcp:vault/callback";
  vault.lifetime = 10;
  const started = await signIns.start(target, { redirectUrl, documentUrl: undefined, returnTo: "/" });
  const back = (await vault.consent(started.address)).searchParams;
  const answer = { state: back.get("state")!, code: back.get("code")!, error: undefined, issuer: undefined };
  await signIns.finish(target, { ...answer, browser: started.browser });
  const { rows } = await databases[0]!.query("select token from oauth_session");
  expect(rows[0]!["token"]).toMatch(/^sealed:/);

  // Ten seconds are within the margin before the end: both processes find that it has to be renewed.
  vault.lifetime = 3600;
  const credentials = replicas.map((sessions) =>
    createOAuthCredential(target, { sessions, toSignInText: () => "Sign in" }),
  );
  const used = await Promise.all([...credentials, ...credentials].map((each) => each.authorization()));
  expect(new Set(used).size).toBe(1);
  expect(vault.counts.refreshed).toBe(1);
});
