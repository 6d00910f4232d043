import { readdir, readFile } from "node:fs/promises";
import type { AnyPlugin } from "#kernel/plugin.ts";
import { type Answer, type App, startApp, type TestUser } from "#test/support/app.ts";
import { root } from "#test/support/shell.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

export const folder = `${root}examples/functions/`;

/** Names of all examples, without their ending. */
export async function listExamples(): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith(".js"))
    .map((name) => name.slice(0, -3))
    .toSorted();
}

export const readExample = (name: string) => readFile(`${folder}${name}.js`, "utf8");

export interface Stage {
  readonly app: App;
  readonly upstream: Upstream;
  readonly admin: TestUser;
  /** Stores an example as a person would, sets its valves and switches it on; a filter for all models. */
  install(name: string, options?: InstallOptions): Promise<void>;
  /** Calls a route as the administrator, or as `user`; throws for anything but 200. */
  post(path: string, body?: unknown, user?: TestUser): Promise<Answer["body"]>;
  /** A completion, whatever its status. */
  ask(body: Asked, user?: TestUser): Promise<Answer>;
  /** The bodies that models got since the last call. */
  asked(): UpstreamRequest["body"][];
  close(): Promise<void>;
}

export interface InstallOptions {
  readonly valves?: object;
  /** Changes the source, as people who copy an example do. */
  change?(source: string): string;
}

export interface Asked {
  readonly model?: string;
  readonly messages: readonly object[];
  readonly [key: string]: unknown;
}

/** The platform with an upstream whose models everybody may use. */
export async function openStage(
  models: readonly string[],
  env: Record<string, string> = {},
  plugins: readonly AnyPlugin[] = [],
): Promise<Stage> {
  const upstream = await startUpstream();
  upstream.models = models;
  const app = await startApp({
    plugins,
    env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "k", ...env },
  });
  const admin = await app.admin();
  const post = async (path: string, body?: unknown, user = admin) =>
    requireOk(await user.call(`POST ${path}`, body));
  await post("/compat/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: [upstream.url],
    OPENAI_API_KEYS: ["k"],
    OPENAI_API_CONFIGS: { "0": { access: "everyone" } },
  });
  let seen = upstream.requests.length;
  return {
    app,
    upstream,
    admin,
    post,
    async install(name, { valves, change = (source: string) => source } = {}) {
      const content = change(await readExample(name));
      const made = await post("/api/v1/functions/create", { id: name, name, content });
      if (valves) {
        await post(`/api/v1/functions/id/${name}/valves/update`, valves);
      }
      await post(`/api/v1/functions/id/${name}/toggle`);
      if (made.type !== "pipe") {
        await post(`/api/v1/functions/id/${name}/toggle/global`);
      }
    },
    ask: ({ model = models[0], ...body }, user = admin) =>
      user.call("POST /api/chat/completions", { model, ...body }),
    asked() {
      const since = upstream.requests.slice(seen);
      seen = upstream.requests.length;
      return since.filter(({ method }) => method === "POST").map(({ body }) => body);
    },
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}

function requireOk(answer: Answer): Answer["body"] {
  if (answer.status !== 200) {
    throw new Error(`${answer.status}: ${answer.text}`);
  }
  return answer.body;
}

/** The frames of a streamed answer. */
// Frames are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export function toFrames(stream: string): any[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: ") && !line.includes("[DONE]"))
    .map((line) => JSON.parse(line.slice(6)));
}

/** The text of an answer, streamed or whole. */
export function toText(answer: Answer): string {
  return typeof answer.body === "string"
    ? toFrames(answer.body)
        .map(({ choices }) => choices?.[0]?.delta?.content ?? "")
        .join("")
    : answer.body.choices[0].message.content;
}

export const says = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more });
