import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { catalogue } from "#plugins/catalogue.ts";
import { databaseKind } from "#storage/testing.ts";
import { chatDriver, type ChatDriver } from "./chat-driver.ts";
import { callServer } from "./app.ts";
import { firstAdmin } from "./client.ts";
import { preparePlatformDataDir } from "./platform-database.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** Processes of the platform over one database, with an upstream that offers `alpha`. */
export interface ChatServers {
  readonly upstream: Upstream;
  /** Every process by its number; a new one may take an old one's place. */
  readonly servers: ServerProcess[];
  readonly env: Readonly<Record<string, string>>;
  /** Starts, or starts again, the process of this number. */
  start(at: number, env?: Record<string, string>): Promise<ServerProcess>;
  /** The first account, driving the process of this number. */
  admin(at?: number): ChatDriver;
  /** The account of this token, driving the first process. */
  as(token: string): ChatDriver;
  /** Runs a statement on the server's database, beside the processes: their clock cannot be set. */
  query(statement: string): Promise<Record<string, unknown>[]>;
  /** A new account. */
  addUser(): Promise<{ id: string; token: string }>;
  close(): Promise<void>;
}

export interface ChatServersOptions {
  readonly database: "embedded" | "server";
  readonly replicas?: number;
  readonly env?: Record<string, string>;
  /** Changes the address of the database, such as to one of a proxy. */
  toUrl?(url: URL): URL;
}

/** The kind of database that this suite runs on; `.ci/run` runs the suites of the embedded one on a server as well. */
export const databaseKinds: readonly [string, "embedded" | "server"][] = [
  databaseKind() === "embedded" ? ["the embedded database", "embedded"] : ["Postgres", "server"],
];

export async function startChatServers(options: ChatServersOptions): Promise<ChatServers> {
  const place = await preparePlatformDataDir(catalogue, options.database);
  const folder = await mkdtemp(join(tmpdir(), "servers-"));
  const upstream = await startUpstream();
  upstream.models = ["alpha"];
  const url = place.env["DATABASE_URL"];
  const env: Record<string, string> = {
    ...place.env,
    ...(url !== undefined && { DATABASE_URL: (options.toUrl?.(new URL(url)) ?? new URL(url)).href }),
    OPENAI_API_BASE_URLS: upstream.url,
    OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}',
    SHUTDOWN_GRACE_SECONDS: "1",
    // One account drives hundreds of runs in the full form.
    LIMIT_CONCURRENT_COMPLETIONS: "0",
    ...options.env,
  };
  const servers: ServerProcess[] = [];
  const start = async (at: number, more: Record<string, string> = {}) => {
    const own: Record<string, string> =
      options.database === "server" ? { DATA_DIR: join(folder, String(at)) } : {};
    return (servers[at] = await startProcess({ ...env, ...own, ...more }));
  };
  const urlOf = (at: number) => () => (servers[at] as ServerProcess).url;
  await start(0);
  for (let at = 1; at < (options.replicas ?? 1); at++) {
    await start(at);
  }
  const token = await firstAdmin(urlOf(0)());
  let count = 0;
  return {
    upstream,
    servers,
    env,
    start,
    admin: (at = 0) => chatDriver(urlOf(at), token),
    as: (own) => chatDriver(urlOf(0), own),
    async query(statement) {
      const client = new Client({ connectionString: url as string });
      await client.connect();
      return await client
        .query(statement)
        .then(({ rows }) => rows)
        .finally(() => client.end());
    },
    async addUser() {
      count += 1;
      const body = {
        name: `P ${count}`,
        email: `p${count}@example.test`,
        password: "Correct-horse-1",
        role: "user",
      };
      await callServer(urlOf(0)(), "POST /api/v1/auths/add", { token, body });
      return (await callServer(urlOf(0)(), "POST /api/v1/auths/signin", { body })).body;
    },
    async close() {
      await Promise.all(servers.map((server) => server.kill()));
      await upstream.close();
      await place.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
