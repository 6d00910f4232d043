import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { ManualCompaction } from "./manual-compaction.ts";

const CompactedChat = z
  .object({
    chat_id: z.string(),
    message_id: z.string(),
    summary: z.string(),
    context_usage: z.object({ tokens: z.int(), threshold: z.int() }),
  })
  .meta({ id: "CompactedChat" });

/** Compacting chats on request (contract §3.7). */
export function compactionRoutes(manual: ManualCompaction) {
  return [
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
