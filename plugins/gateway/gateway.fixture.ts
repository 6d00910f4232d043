import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppOptions } from "#test/support/app.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { textChunks, toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse } from "#test/support/upstream-scripts.ts";
import { type Answer, type Call, callServer } from "#test/support/app.ts";

/** The platform with its gateway on a free port, a folder of workspaces, and a scripted model. */
export interface GatewayApp extends AppWithUpstream {
  /** GATEWAY_ROOT. */
  readonly root: string;
  /** Address that the gateway listens on. */
  url(): Promise<string>;
  /** Calls the platform as its admin. */
  admin(route: string, body?: unknown): Promise<Answer>;
  /** Makes a workspace; resolves to its record. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  workspace(folder: string, more?: object): Promise<any>;
  /** Makes a key of the admin's. */
  key(): Promise<string>;
  /** Calls the gateway with a key. */
  gateway(route: string, key: string | undefined, call?: Omit<Call, "token">): Promise<Answer>;
}

export async function startGateway({ env, ...options }: AppOptions = {}): Promise<GatewayApp> {
  const root = await mkdtemp(join(tmpdir(), "workspaces-"));
  const started = await startAppWithUpstream({
    ...options,
    env: { ENABLE_GATEWAY: "true", GATEWAY_PORT: "0", GATEWAY_ROOT: root, ...env },
  });
  const { app } = started;
  const admin = async (route: string, body?: unknown) => (await app.admin()).call(route, body);
  const url = async () => (await admin("GET /api/v1/gateway/state")).body.url as string;
  const made = async (route: string, body: object) => {
    const answer = await admin(route, body);
    if (answer.status !== 200) {
      throw new Error(`${route} answered ${answer.status}: ${answer.text}`);
    }
    return answer.body;
  };
  return {
    ...started,
    root,
    url,
    admin,
    workspace: (folder, more = {}) =>
      made("POST /api/v1/gateway/workspaces", { name: folder, folder, ...more }),
    key: async () => (await made("POST /api/v1/gateway/keys", { name: "test" })).key,
    gateway: async (route, key, call = {}) => callServer(await url(), route, { ...call, token: key }),
    async close() {
      await started.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Calls of a model. */
export const completions = (request: UpstreamRequest): boolean => request.path.endsWith("/chat/completions");

/** A model's answer that calls one tool. */
export const calling = (name: string, args: object) =>
  sse(toolCallChunks([{ id: `call_${Math.random()}`, name, arguments: JSON.stringify(args) }]));

/** A model's answer in words. */
export const saying = (text: string) => sse(textChunks(text));
