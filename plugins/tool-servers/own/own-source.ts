import { createHash } from "node:crypto";
import { z } from "zod";
import { hasPermission } from "#kernel/access/permissions.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toolOutput, toToolOutput } from "#kernel/tools/output.ts";
import type { Tool, ToolContext, ToolSelection, ToolSource } from "#kernel/tools/tool.ts";

export interface OwnSourceOptions {
  readonly hub: Pick<Hub, "ask">;
  /** Seconds for one call; null for the limit of all questions to clients. */
  callTimeout(): number | null;
}

const Spec = z.object({
  name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
  description: z.string().max(4096).catch(""),
  parameters: z.record(z.string(), z.unknown()).catch({ type: "object", properties: {} }),
});

const OwnServer = z.looseObject({
  url: z.string().max(2048),
  info: z.looseObject({ title: z.string().max(200).optional() }).catch({}),
  specs: z.array(Spec).max(500),
});
type OwnServer = z.output<typeof OwnServer>;

const mostServers = 20;

/**
 * Tools of servers that a person keeps (`ui.toolServers`, contract §5.2): the request names them with their functions,
 * and the person's own client calls them. This server contacts none of them, and learns no key of theirs.
 */
export function createOwnSource(options: OwnSourceOptions): ToolSource {
  return {
    id: "own-tool-servers",
    granted: async () => [],
    async select({ principal, run, onProblem }: ToolSelection) {
      const given: unknown = run?.request["tool_servers"];
      if (!Array.isArray(given) || given.length === 0 || !hasPermission(principal, permission)) {
        return [];
      }
      const servers = given.slice(0, mostServers).map((each) => OwnServer.safeParse(each));
      if (servers.some(({ success }) => !success) || given.length > mostServers) {
        onProblem?.({ toolId: "tool_servers", text: "Some of your own tool servers could not be read." });
      }
      if (!run?.sessionId) {
        onProblem?.({ toolId: "tool_servers", text: "Your own tool servers are called by an open client." });
        return [];
      }
      return servers.flatMap(({ data }, at) => (data ? toTools(options, data, at) : []));
    },
  };
}

const permission = "features.direct_tool_servers";

function toTools(options: OwnSourceOptions, server: OwnServer, at: number): Tool[] {
  const name = server.info.title || URL.parse(server.url)?.host || "Own tool server";
  return server.specs.map((spec) => ({
    id: `direct_server:${at}`,
    spec,
    isExternal: true,
    permission,
    server: name,
    revision: createHash("sha256")
      .update(JSON.stringify([server.url, spec]))
      .digest("base64url")
      .slice(0, 16),
    run: (parameters, context) => callOwn(options, { server, spec: spec.name, parameters }, context),
  }));
}

interface OwnCall {
  readonly server: OwnServer;
  readonly spec: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const Refusal = z.object({ error: z.string() });
/** Clients answer with the result, or with it and the headers of the answer. */
const WithHeaders = z.tuple([z.unknown(), z.record(z.string(), z.string())]);

async function callOwn(
  { hub, callTimeout }: OwnSourceOptions,
  { server, spec, parameters }: OwnCall,
  { principal, sessionId = "", chatId, messageId, call, signal }: ToolContext,
): Promise<unknown> {
  const { specs: _specs, key: _key, headers: _headers, ...shown } = server;
  const data = { id: call?.id ?? "", name: spec, params: parameters, server: shown, session_id: sessionId };
  const payload = toEnvelope({ type: "execute:tool", data }, { chatId, messageId });
  const seconds = callTimeout();
  const answer = await hub.ask(
    { userId: principal.userId, sessionId, event: "events", payload },
    { signal, ...(seconds !== null && seconds > 0 && { timeoutMs: seconds * 1000 }) },
  );
  const refusal = Refusal.safeParse(answer).data;
  if (refusal !== undefined) {
    throw new AppError("upstream", refusal.error.slice(0, 4000));
  }
  const [value, headers] = WithHeaders.safeParse(answer).data ?? [answer, {}];
  return isPage(headers) && typeof value === "string" ? toolOutput({ embeds: [value] }) : toToolOutput(value);
}

function isPage(headers: Readonly<Record<string, string>>): boolean {
  const read = (name: string) =>
    Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
  return /^\s*inline\b/i.test(read("content-disposition")) && /^text\/html\b/i.test(read("content-type"));
}
