import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../scripts/node-flags.mjs";
import { type Contestant, freePort, type Running, startProcess } from "./contestant.ts";
import { models } from "./mock.ts";
import { type ToBody, toMessage } from "./requests.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("..", import.meta.url));
const admin = { email: "bench@example.com", password: "a-long-bench-password-1" };

/** The yardstick: a `node:http` proxy that pipes. */
export const rawpipe: Contestant = {
  name: "rawpipe",
  async start(upstreamPort) {
    const port = await freePort();
    return startProcess({
      name: "rawpipe",
      args: [join(here, "rawpipe.ts")],
      env: { PORT: String(port), UPSTREAM_PORT: String(upstreamPort) },
      port,
      ready: "/v1/models",
    });
  },
};

/** The published gateway of another project. */
export const portkey: Contestant = {
  name: "portkey",
  async start(upstreamPort) {
    const port = await freePort();
    return startProcess({
      name: "portkey",
      args: [
        join(here, "node_modules/@portkey-ai/gateway/build/start-server.js"),
        `--port=${port}`,
        "--headless",
      ],
      // Its guard against private addresses has a list of exceptions; the mock lives on one.
      env: { NODE_ENV: "production", TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" },
      port,
      headers: `x-portkey-provider: openai\r\nx-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1\r\nauthorization: Bearer k\r\n`,
    });
  },
};

/** The published router that has models of the common format answer the vendor's message format. */
export const messageRouter: Contestant = {
  name: "claude-code-router",
  async start(upstreamPort) {
    const port = await freePort();
    const home = newFolder();
    const folder = join(home, ".claude-code-router");
    const provider = {
      name: "mock",
      api_base_url: `http://127.0.0.1:${upstreamPort}/v1/chat/completions`,
      api_key: "k",
      models,
    };
    const config = { HOST: "127.0.0.1", PORT: port, LOG: false, NON_INTERACTIVE_MODE: true };
    mkdirSync(folder);
    writeFileSync(
      join(folder, "config.json"),
      JSON.stringify({ ...config, Providers: [provider], Router: { default: "mock,json" } }),
    );
    return startProcess({
      name: "claude-code-router",
      args: [join(here, "node_modules/@musistudio/claude-code-router/dist/cli.js"), "start"],
      env: { NODE_ENV: "production", HOME: home },
      port,
      path: "/v1/messages",
      toBody: toMessage("mock,"),
      cleanUp: () => rmSync(home, { recursive: true, force: true }),
    });
  },
};

/** `node:http` alone, answering `body`. */
export function plain(body: string): Contestant {
  return {
    name: "node:http",
    async start() {
      const port = await freePort();
      const env = { PORT: String(port), BODY: body };
      return startProcess({ name: "node:http", args: [join(here, "plain.ts")], env, port });
    },
  };
}

/** A plain loop over the sockets of `ws`. */
export const wsLoop: Contestant = {
  name: "ws",
  async start() {
    const port = await freePort();
    return startProcess({
      name: "ws",
      args: [join(here, "ws-loop.mjs")],
      env: { PORT: String(port) },
      port,
    });
  },
};

export interface MillraceOptions {
  /** Path of the completions route. */
  readonly path?: string;
  readonly toBody?: ToBody;
  readonly env?: Readonly<Record<string, string>>;
  /** Folder below bench/plugins that PLUGINS_PATH names. */
  readonly plugins?: string;
  readonly name?: string;
  readonly cores?: string;
}

/** The platform with an embedded database of its own and the mock as its only connection. */
export function millrace(options: MillraceOptions = {}): Contestant {
  const name = options.name ?? "millrace";
  return {
    name,
    async start(upstreamPort) {
      const data = copyOf(await preparedData(upstreamPort));
      const cleanUp = () => rmSync(data, { recursive: true, force: true });
      const running = await startMillrace({ ...options, name, data, upstreamPort, cleanUp });
      return signIn(running).catch(async (error) => {
        await running.stop();
        throw error;
      });
    },
  };
}

/** Starts the platform over `data` without signing in. */
export async function startMillrace(
  options: MillraceOptions & { name: string; data: string; upstreamPort: number; cleanUp?(): void },
): Promise<Running> {
  const port = await freePort();
  return startProcess({
    name: options.name,
    args: [...nodeFlags, join(root, "plugins/serve.ts")],
    env: {
      ENV: "prod",
      HOST: "127.0.0.1",
      PORT: String(port),
      DATA_DIR: options.data,
      WEBUI_ADMIN_EMAIL: admin.email,
      WEBUI_ADMIN_PASSWORD: admin.password,
      OPENAI_API_BASE_URLS: `http://127.0.0.1:${options.upstreamPort}/v1`,
      OPENAI_API_KEYS: "k",
      ENABLE_OPENAI_API_PASSTHROUGH: "true",
      // One account sends the whole load.
      LIMIT_CONCURRENT_COMPLETIONS: "0",
      GLOBAL_LOG_LEVEL: "WARNING",
      // As `npm start` sets it.
      NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compiled"),
      ...(options.plugins && { PLUGINS_PATH: join(here, "plugins", options.plugins) }),
      ...options.env,
    },
    port,
    ready: "/health",
    path: options.path ?? "/api/chat/completions",
    ...(options.toBody && { toBody: options.toBody }),
    ...(options.cores && { cores: options.cores }),
    ...(options.cleanUp && { cleanUp: options.cleanUp }),
  });
}

/** Signs the administrator in; the requests of the result carry the session. */
export async function signIn(running: Running): Promise<Running> {
  const response = await fetch(`http://127.0.0.1:${running.port}/api/v1/auths/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(admin),
  });
  if (!response.ok) {
    throw new Error(`Sign-in answered ${response.status}: ${await response.text()}`);
  }
  const { token } = (await response.json()) as { token: string };
  return { ...running, headers: `authorization: Bearer ${token}\r\n` };
}

/** A new folder for one process; the caller removes it. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "millrace-bench-"));
}

const prepared = new Map<number, Promise<string>>();

/**
 * A data folder with the schema and the administrator in it, so that rounds need not start from nothing. The first
 * start stores the upstream's address, which from then on counts for more than the variable: one folder an upstream.
 */
function preparedData(upstreamPort: number): Promise<string> {
  const known = prepared.get(upstreamPort);
  if (known !== undefined) {
    return known;
  }
  const data = newFolder();
  process.on("exit", () => rmSync(data, { recursive: true, force: true }));
  const made = startMillrace({ name: "millrace (first start)", data, upstreamPort }).then(async (running) => {
    await running.stop();
    return data;
  });
  prepared.set(upstreamPort, made);
  return made;
}

function copyOf(folder: string): string {
  const copy = newFolder();
  // The socket that locks the folder belongs to the process that made it and cannot be copied.
  cpSync(folder, copy, {
    recursive: true,
    filter: (path) => !path.endsWith(".sock") && !path.endsWith(".lock"),
  });
  return copy;
}
