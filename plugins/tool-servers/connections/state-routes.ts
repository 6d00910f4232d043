import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Slot } from "#kernel/service.ts";
import { toResultText, toToolOutput } from "#kernel/tools/output.ts";
import type { ToolServerConnection, ToolServerKind } from "../service.ts";
import type { Servers } from "./servers.ts";
import { TriedStates } from "./tried-states.ts";

export interface StateRoutesOptions {
  readonly servers: Servers;
  readonly kinds: Slot<ToolServerKind>;
}

const State = z.object({
  index: z.int(),
  id: z.string(),
  tool_id: z.string(),
  name: z.string(),
  type: z.enum(["openapi", "mcp"]),
  state: z.enum(["off", "unusable", "unknown", "reachable", "failing"]),
  reason: z.string().nullable(),
  checked_at: z.int().nullable(),
  latency_ms: z.int().nullable(),
  functions: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      is_read_only: z.boolean(),
      is_offered: z.boolean(),
    }),
  ),
  /** Whether the caller has signed in to it; null where it needs no sign-in of people. */
  authenticated: z.boolean().nullable(),
});

const Trial = z.object({
  tool_id: z.string().min(1).max(300),
  name: z.string().min(1).max(200),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

const TrialResult = z.object({
  ok: z.boolean(),
  text: z.string(),
  files: z.array(
    z.object({ name: z.string(), content_type: z.string(), size: z.int(), url: z.string().nullable() }),
  ),
  embeds: z.array(z.string()),
  duration_ms: z.int(),
});

/** Bytes of a picture that is shown with the result of a try. */
const largestShown = 4 * 1024 * 1024;

/** How tool servers fare, and trying one of their functions. */
export function stateRoutes({ servers, kinds }: StateRoutesOptions) {
  const tried = new TriedStates();
  const kindOf = (type: string) => kinds.list().find((kind) => kind.type === type);
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/tool_servers/states",
        summary: "Tell how the tool servers fare and what they offer",
        access: "admin",
        query: z.object({
          refresh: z
            .enum(["true", "false", "unknown"])
            .optional()
            .describe("`unknown` asks those alone of which nothing is known yet"),
        }),
        returns: z.object({ data: z.array(State) }).meta({ id: "ToolServerStates" }),
      },
      async ({ query, caller }) => ({
        data: await Promise.all(
          servers
            .configured()
            .map((server) =>
              toState(server, { kind: kindOf(server.type), caller, tried, asked: query.refresh ?? "false" }),
            ),
        ),
      }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/tool_servers/try",
        summary: "Call one function of a stored tool server, as a reply would",
        access: "admin",
        body: Trial,
        returns: TrialResult.meta({ id: "ToolServerTrial" }),
      },
      async ({ body, caller, request }) => {
        const server = servers.all().find(({ toolId }) => toolId === body.tool_id);
        const kind = server && kindOf(server.type);
        if (server === undefined || kind === undefined) {
          throw new AppError("not_found", "Tool server not found");
        }
        const selection = { principal: caller, signal: request.signal, onProblem: () => undefined };
        const tool = (await kind.tools(server, selection)).find(({ spec }) => spec.name === body.name);
        if (tool === undefined) {
          throw new AppError("not_found", "The server offers no such function.");
        }
        const context = {
          principal: caller,
          chatId: undefined,
          messageId: undefined,
          signal: request.signal,
        };
        return await time(() => tool.run(body.parameters ?? {}, context));
      },
    ),
  ] as const;
}

interface StatePlace {
  readonly kind: ToolServerKind | undefined;
  readonly caller: Principal;
  readonly tried: TriedStates;
  readonly asked: "true" | "false" | "unknown";
}

async function toState(server: ToolServerConnection, { kind, caller, tried, asked }: StatePlace) {
  const { index, id, toolId, name, type, isEnabled, problem } = server;
  const facts = { index, id, tool_id: toolId, name, type, authenticated: null };
  const nothing = { reason: null, checked_at: null, latency_ms: null, functions: [] };
  if (!isEnabled) {
    return { ...facts, ...nothing, state: "off" as const };
  }
  if (problem !== undefined || kind === undefined) {
    const reason = problem ?? `nothing on this server speaks ${type}`;
    return { ...facts, ...nothing, state: "unusable" as const, reason };
  }
  const read = async (isAsked: boolean) =>
    await (kind.state?.(server, isAsked) ??
      (isAsked ? tried.refresh(server, kind, caller) : tried.peek(server)));
  const ask = async () => {
    const known = await read(asked === "true");
    return asked === "unknown" && known.state === "unknown" ? await read(true) : known;
  };
  const [state, listed] = await Promise.all([ask(), kind.list?.(server, caller)]);
  return {
    ...facts,
    ...state,
    functions: [...state.functions],
    authenticated: listed?.authenticated ?? null,
  };
}

async function time(run: () => Promise<unknown>) {
  const from = performance.now();
  const rest = () => ({ duration_ms: Math.round(performance.now() - from) });
  try {
    const output = toToolOutput(await run());
    const files = output.files.map(({ name, contentType, bytes }) => ({
      name,
      content_type: contentType,
      size: bytes.length,
      url:
        /^image\/(png|jpeg|gif|webp)$/.test(contentType) && bytes.length <= largestShown
          ? `data:${contentType};base64,${Buffer.from(bytes).toString("base64")}`
          : null,
    }));
    return { ok: true, text: toResultText(output), files, embeds: [...output.embeds], ...rest() };
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    return { ok: false, text: error.message, files: [], embeds: [], ...rest() };
  }
}
