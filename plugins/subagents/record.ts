import { z } from "zod";
import type { SubagentRow } from "./tables.ts";

/** A sub-agent on the wire. `chat_id` is the chat that asked; times are epoch seconds. */
export const SubagentRecord = z
  .object({
    id: z.string(),
    chat_id: z.string(),
    message_id: z.string().nullable(),
    call_id: z.string().nullable(),
    subagent_chat_id: z.string(),
    mode: z.enum(["foreground", "background"]),
    task: z.string(),
    state: z.enum(["running", "completed", "failed", "interrupted", "stopped"]),
    error: z.string().nullable(),
    created_at: z.number(),
    ended_at: z.number().nullable(),
  })
  .meta({ id: "Subagent" });

export function toRecord(row: SubagentRow): z.output<typeof SubagentRecord> {
  return {
    id: row.id,
    chat_id: row.chat_id,
    message_id: row.message_id,
    call_id: row.call_id,
    subagent_chat_id: row.id,
    mode: row.mode,
    task: row.task,
    state: row.state,
    error: row.error,
    created_at: row.created_at,
    ended_at: row.ended_at,
  };
}
