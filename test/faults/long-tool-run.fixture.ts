import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEverything } from "#plugins/mcp/servers.fixture.ts";
import { weather } from "#plugins/workspace-tools/tools.fixture.ts";
import { type OpenApiService, startOpenApiService } from "#plugins/tool-servers/openapi/service.fixture.ts";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import { createTestFolder, removeTestFolder } from "#test/support/test-folder.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

// Stored messages are of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Any = any;

/** A call that the scripted model makes; its step is its number. */
export interface PlannedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What the tools of the workbench noted. */
export interface Noted {
  readonly event: "begin" | "end";
  readonly name: string;
  readonly step: number;
}

export interface LongRuns {
  readonly servers: ChatServers;
  /** The tool server `server:workshop`. */
  readonly service: OpenApiService;
  /** Lets the tool `vice` wait, or go on. */
  setHold(isHeld: boolean): void;
  noted(): Noted[];
  /** Starts a run whose model makes these calls, round by round, and then says "All done." */
  plan(rounds: readonly (readonly PlannedCall[])[], seed: number): void;
  /** The requests of the model with this seed, in order. */
  asked(seed: number): readonly UpstreamRequest[];
  close(): Promise<void>;
}

const plugins = fileURLToPath(new URL("plugins", import.meta.url));

/** The platform as a process with the workbench's tools, under a model that follows a plan. */
export async function startLongRuns(env: Record<string, string> = {}): Promise<LongRuns> {
  const folder = await createTestFolder({});
  const [log, held] = [join(folder, "log"), join(folder, "hold")];
  writeFileSync(log, "");
  const [, database] = databaseKinds[0] as (typeof databaseKinds)[number];
  const servers = await startChatServers({
    database,
    env: {
      PLUGINS_PATH: plugins,
      WORKBENCH_LOG: log,
      WORKBENCH_HOLD: held,
      // Nobody is there to be asked.
      TOOL_APPROVAL_POLICY: '{"*": "auto"}',
      ...env,
    },
  });
  const service = await startOpenApiService();
  const everything = await startEverything();
  await addTools(servers, { openapi: service.url, mcp: everything.url });
  const isOf = (seed: number) => (request: UpstreamRequest) => request.body?.seed === seed;
  return {
    servers,
    service,
    setHold: (isHeld) => writeHold(held, isHeld),
    noted: () =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Noted),
    plan(rounds, seed) {
      servers.upstream.always(isOf(seed), (exchange) => {
        const { messages } = exchange.request.body as { messages: { role: string; tool_call_id?: string }[] };
        const done = new Set(messages.map(({ tool_call_id: id }) => id));
        // A model goes on with what it has no result of.
        const next = rounds
          .map((calls) => calls.filter(({ id }) => !done.has(id)))
          .find(({ length }) => length > 0);
        return (next ? sse(toolCallChunks(next)) : text("All done."))(exchange);
      });
    },
    asked: (seed) => servers.upstream.requests.filter(isOf(seed)),
    async close() {
      await servers.close();
      await Promise.all([service.close(), everything.close()]);
      await removeTestFolder(folder);
    },
  };
}

/** Ids of the tools that people switch on: one of the workspace, and two servers. */
export const toolIds = ["weather", "server:workshop", "server:mcp:everything"];

async function addTools(servers: ChatServers, urls: { openapi: string; mcp: string }): Promise<void> {
  const shared = { auth_type: "none", config: { enable: true } };
  const connections = [
    { ...shared, url: urls.openapi, type: "openapi", info: { id: "workshop", name: "Workshop" } },
    { ...shared, url: urls.mcp, type: "mcp", info: { id: "everything", name: "Everything" } },
  ];
  const me = servers.admin();
  const answers = [
    await me.call("POST /api/v1/configs/tool_servers", { TOOL_SERVER_CONNECTIONS: connections }),
    await me.call("POST /api/v1/tools/create", {
      id: "weather",
      name: "Weather",
      content: weather,
      meta: {},
    }),
  ];
  const refused = answers.find(({ status }) => status !== 200);
  if (refused) {
    throw new Error(`A tool was not taken: ${refused.text}`);
  }
}

function writeHold(path: string, isHeld: boolean): void {
  if (isHeld) {
    writeFileSync(path, "");
  } else {
    rmSync(path, { force: true });
  }
}

/** A tool and what it is given, by the number of the call. */
export type Kind = string | { readonly name: string; readonly given: (step: number) => object };

/** Ten rounds of two calls, over every kind of tool. */
export function tenRounds(kinds: readonly Kind[]): PlannedCall[][] {
  return Array.from({ length: 10 }, (_, round) =>
    [2 * round, 2 * round + 1].map((step) => toCall(kinds[step % kinds.length] as Kind, step)),
  );
}

function toCall(kind: Kind, step: number): PlannedCall {
  const given = typeof kind === "string" ? { step } : kind.given(step);
  const name = typeof kind === "string" ? kind : kind.name;
  return { id: `call_${step}`, name, arguments: JSON.stringify(given) };
}

/** Calls and results of a stored reply. */
export function callsOf(output: readonly Any[]) {
  const results = output.filter(({ type }) => type === "function_call_output");
  return output
    .filter(({ type }) => type === "function_call")
    .map((call) => ({ call, result: results.find(({ call_id: id }) => id === call.call_id) }));
}

export const textOf = (result: Any): string =>
  result.output.map(({ text: part = "" }: { text?: string }) => part).join("");
