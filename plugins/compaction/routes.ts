import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Manual } from "./manual.ts";

/** The form of the settings; null goes back to what the environment or the default says. */
const ChatConfig = z
  .object({
    ENABLE_CONTEXT_COMPACTION: z.boolean().nullish(),
    CONTEXT_COMPACTION_MODEL: z.string().max(256).nullish(),
    CONTEXT_COMPACTION_TOKEN_THRESHOLD: z.int().min(1).nullish(),
    CONTEXT_COMPACTION_TOKEN_CAP: z.int().min(1).nullish(),
    CONTEXT_COMPACTION_RETENTION_PERCENTAGE: z.int().min(0).max(100).nullish(),
    CONTEXT_COMPACTION_PROMPT_TEMPLATE: z.string().max(100_000).nullish(),
  })
  .meta({ id: "ChatConfig" });

const names = Object.keys(ChatConfig.shape);

const CompactedChat = z
  .object({
    chat_id: z.string(),
    message_id: z.string(),
    summary: z.string(),
    context_usage: z.object({ tokens: z.int(), threshold: z.int() }),
  })
  .meta({ id: "CompactedChat" });

/** Compacting chats, and its settings (contract §3.7). */
export function compactionRoutes(
  manual: Manual,
  configuration: Pick<ConfigRegistry, "valueOf" | "set" | "reset">,
) {
  return [
    ...configRoutes(configuration),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/compact",
        summary: "Put a summary in place of the older part of the shown branch, for what models read",
        access: "user",
        params: z.object({ id: z.string().max(200) }),
        body: z.object({ model: z.string().min(1).max(256).nullish() }),
        bodyOptional: true,
        returns: CompactedChat,
        fails: [400, 403, 404, 409, 502, 504],
      },
      ({ caller, params, body, request }) =>
        manual.compact(caller, params.id, { model: body?.model ?? undefined, signal: request.signal }),
    ),
  ];
}

function configRoutes(configuration: Pick<ConfigRegistry, "valueOf" | "set" | "reset">) {
  const read = () =>
    Object.fromEntries(names.map((name) => [name, configuration.valueOf(name)])) as z.output<
      typeof ChatConfig
    >;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/config",
        summary: "Read the settings of compacting chats",
        access: "admin",
        returns: ChatConfig,
      },
      read,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/config",
        summary: "Change the settings of compacting chats",
        access: "admin",
        body: ChatConfig,
        returns: ChatConfig,
      },
      async ({ body, caller }) => {
        const changes = Object.entries(body).filter(([, value]) => value !== undefined);
        const cleared = changes.filter(([, value]) => value === null).map(([name]) => name);
        const set = Object.fromEntries(changes.filter(([, value]) => value !== null));
        await configuration.set(set, caller.userId);
        if (cleared.length > 0) {
          await configuration.reset(cleared, caller.userId);
        }
        return read();
      },
    ),
  ];
}
