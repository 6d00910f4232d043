import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser } from "playwright-core";
import { databaseKind, prepareTestDataDir } from "#storage/testing.ts";
import { type Answer, type Call, callServer } from "#test/support/app.ts";
import { openBrowser } from "#test/support/browser.ts";
import { buildInterface } from "#test/support/interface.ts";
import { shareInWorker } from "#test/support/leaks/leaks.ts";
import { type ServerProcess, startSharedProcess } from "#test/support/process.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type Things, makeThings } from "./things.ts";

export interface Person {
  readonly email: string;
  readonly token: string;
  /** What the person has, by the pattern of the page that shows it. */
  readonly things: Things;
}

/** The program as a person starts it on an empty folder, after a first day of use. */
export interface Platform {
  readonly url: string;
  readonly upstream: Upstream;
  readonly browser: Browser;
  /** Stops the server and starts it on the same folder and port. */
  restart(): Promise<void>;
  readonly admin: Person;
  call(route: string, options?: Call): Promise<Answer>;
  /** A fresh account that has one of each thing. */
  person(role: "user" | "admin"): Promise<Person>;
  /** The account of this role that changes nothing others rely on: suites share it. */
  resident(role: "user" | "admin"): Promise<Person>;
}

export const model = "alpha";
export const password = "Correct-horse-1";

let running: Promise<Platform> | undefined;

/** One server and one browser for all suites of hands: they run in one worker, and end with it. */
export function usePlatform(): Promise<Platform> {
  return (running ??= shareInWorker(start));
}

async function start(): Promise<Platform> {
  await buildInterface();
  const upstream = await startUpstream();
  upstream.models = [model, "beta"];
  upstream.always(text("Fine."));
  const variables = {
    ...(await prepareFolder()),
    ENABLE_CHANNELS: "true",
    ENABLE_GATEWAY: "true",
    GATEWAY_PORT: "0",
    GATEWAY_ROOT: mkdtempSync(join(tmpdir(), "workspaces-")),
    OPENAI_API_BASE_URLS: upstream.url,
    OPENAI_API_KEYS: "key",
    OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }),
  };
  let server: ServerProcess = await startSharedProcess(variables);
  const browser = await openBrowser();
  const call = (route: string, options?: Call) => callServer(server.url, route, options);
  const { body } = await call("POST /api/v1/auths/signup", {
    body: { name: "Ada", email: "ada@mill.test", password },
  });
  const admin = { email: "ada@mill.test", token: body.token as string };
  await permitAll(call, admin.token);
  let count = 0;
  let member: Promise<Person> | undefined;
  const first = { ...admin, things: await makeThings(call, admin.token, "ada") };
  const person: Platform["person"] = async (role) => {
    count += 1;
    const account = { name: `Person ${count}`, email: `person${count}@mill.test`, password, role };
    await call("POST /api/v1/auths/add", { token: admin.token, body: account });
    const { body: signedIn } = await call("POST /api/v1/auths/signin", { body: account });
    const { token } = signedIn as { token: string };
    return { email: account.email, token, things: await makeThings(call, token, `person${count}`) };
  };
  return {
    url: server.url,
    upstream,
    browser,
    async restart() {
      await server.stop();
      const { port } = new URL(server.url);
      server = await shareInWorker(() => startSharedProcess({ ...variables, PORT: port }));
    },
    call,
    admin: first,
    person,
    resident: async (role) => (role === "admin" ? first : await (member ??= person("user"))),
  };
}

/** An empty folder, or one beside an empty database of the run's server. */
async function prepareFolder(): Promise<Record<string, string>> {
  return databaseKind() === "embedded"
    ? { DATA_DIR: mkdtempSync(join(tmpdir(), "hands-")) }
    : (await prepareTestDataDir()).env;
}

/** Every permission for members, so that they open every page that is not the administrators'. */
async function permitAll(call: Platform["call"], token: string): Promise<void> {
  const { body } = await call("GET /api/v1/users/default/permissions", { token });
  const on = (value: unknown): unknown =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, on(each)]))
      : true;
  const saved = await call("POST /api/v1/users/default/permissions", { token, body: on(body) });
  if (saved.status !== 200) {
    throw new Error(`The permissions could not be given: ${saved.text}`);
  }
}
