import { boot, type Running } from "#kernel/boot.ts";
import type { AnyPlugin } from "#kernel/plugin.ts";
import { createAccountsPlugin } from "#plugins/accounts/plugin.ts";
import { catalogue } from "#plugins/catalogue.ts";
import type { Database } from "#storage/database.ts";
import { keepExchange, logEvidence } from "./evidence.ts";
import { preparePlatformDataDir } from "./platform-database.ts";

export interface AppOptions {
  /** Variables on top of the test defaults. */
  env?: Record<string, string>;
  /** Further plugins; one with the id of a product's takes its place. */
  plugins?: readonly AnyPlugin[];
  /** The kind of database; that of the suite when left out. */
  database?: Database["kind"];
}

/** One answer, with its body parsed when it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
}

export interface Call {
  token?: string | undefined;
  /** Sent as JSON; a FormData or text goes out as it is. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface TestUser {
  readonly id: string;
  readonly token: string;
  readonly email: string;
  readonly name: string;
  /** Calls `METHOD /path` of its platform in its session. */
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface App {
  readonly url: string;
  readonly running: Running;
  /** Calls `METHOD /path` on the running app. */
  call(route: string, options?: Call): Promise<Answer>;
  /** The first admin; made on the first use. */
  admin(): Promise<TestUser>;
  /** A fresh account with this role. */
  user(role?: "user" | "pending" | "admin"): Promise<TestUser>;
  /** Throws when answers since the last look did not fit their declared shape. */
  requireDeclaredAnswers(): void;
  close(): Promise<void>;
}

/** The product's plugins; accounts hash passwords at the lowest cost, or most of a run would be spent on that. */
const testCatalogue: readonly AnyPlugin[] = catalogue.map((plugin) =>
  plugin.id === "accounts" ? createAccountsPlugin({ hashCost: 4 }) : plugin,
);

/** Starts the real platform on a free port with a database of its own; `close` removes all of it. */
export async function startApp(options: AppOptions = {}): Promise<App> {
  const further = options.plugins ?? [];
  const isReplaced = ({ id }: AnyPlugin) => further.some((plugin) => plugin.id === id);
  const plugins = [...testCatalogue.filter((plugin) => !isReplaced(plugin)), ...further];
  const place = await preparePlatformDataDir(plugins, options.database);
  const mismatches: string[] = [];
  const running = await boot({
    catalogue: plugins,
    port: 0,
    environment: {
      ENV: "dev",
      GLOBAL_LOG_LEVEL: "WARNING",
      SHUTDOWN_GRACE_SECONDS: "2",
      ...place.env,
      ...options.env,
    },
    // A suite that sets the level is about the log itself, and reads it where the product writes it.
    ...(options.env?.["GLOBAL_LOG_LEVEL"] === undefined && { logStream: logEvidence }),
    onMismatch: (route, problem) => mismatches.push(`${route}: ${problem}`),
  }).catch(async (error: unknown) => {
    await place.remove();
    throw error;
  });
  const call = (route: string, init: Call = {}) => callServer(running.url, route, init);
  const requireDeclaredAnswers = () => {
    const problems = new Set(mismatches.splice(0));
    if (problems.size > 0) {
      throw new Error(`Answers that do not fit their declared shape:\n${[...problems].join("\n")}`);
    }
  };
  let first: Promise<TestUser> | undefined;
  let count = 0;
  const admin = () => (first ??= signUp(call, "admin"));

  return {
    url: running.url,
    running,
    call,
    admin,
    async user(role = "user") {
      const { token } = await admin();
      count += 1;
      const account = {
        // Names sort as they were made, also the tenth after the ninth.
        name: `Person ${String(count).padStart(4, "0")}`,
        email: `person${count}@example.test`,
        password: "Correct-horse-1",
      };
      const added = await call("POST /api/v1/auths/add", { token, body: { ...account, role } });
      if (added.status !== 200) {
        throw new Error(`the account could not be made: ${added.text}`);
      }
      const { email, name } = account;
      return signedIn(call, { id: added.body.id, token: await signIn(call, account), email, name });
    },
    requireDeclaredAnswers,
    async close() {
      await running.stop();
      await place.remove();
      requireDeclaredAnswers();
    },
  };
}

async function signUp(call: App["call"], name: string): Promise<TestUser> {
  const email = `${name}@example.test`;
  const answer = await call("POST /api/v1/auths/signup", {
    body: { name, email, password: "Correct-horse-1" },
  });
  if (answer.status !== 200) {
    throw new Error(`the first sign-up failed: ${answer.text}`);
  }
  return signedIn(call, { id: answer.body.id, token: answer.body.token, email, name });
}

/** An account that calls in the session of its token. */
export function signedIn(call: App["call"], account: Omit<TestUser, "call">): TestUser {
  const { token } = account;
  return {
    ...account,
    call: (route, body, headers) => call(route, { token, body, ...(headers && { headers }) }),
  };
}

/** Signs in with a password; the token of the session. */
export async function signIn(
  call: App["call"],
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  const answer = await call("POST /api/v1/auths/signin", { body: { email, password } });
  if (!answer.body?.token) {
    throw new Error(`the sign-in of ${email} failed: ${answer.text}`);
  }
  return answer.body.token;
}

/** Calls `METHOD /path` on a server. */
export async function callServer(
  url: string,
  route: string,
  { token, body, headers = {} }: Call = {},
): Promise<Answer> {
  const [method, path] = route.split(" ", 2) as [string, string];
  const isRaw =
    typeof body === "string" || body instanceof FormData || body === undefined || body instanceof Uint8Array;
  const answer = await fetch(url + path, {
    method,
    redirect: "manual",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body: isRaw ? ((body as BodyInit | undefined) ?? null) : JSON.stringify(body),
  });
  const text = await answer.text();
  keepExchange(route, body, { status: answer.status, text });
  const isJson = /\bjson\b/.test(answer.headers.get("content-type") ?? "");
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}
