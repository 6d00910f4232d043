import { z } from "zod";
import { cancelEvents, type TimerRow } from "./tables.ts";

/** A timer on the wire. `message_id` and `call_id` name the call that set it; times are epoch seconds. */
export const TimerRecord = z
  .object({
    id: z.string(),
    chat_id: z.string(),
    message_id: z.string().nullable(),
    call_id: z.string().nullable(),
    prompt: z.string(),
    cancel_on: z.array(z.enum(cancelEvents)),
    state: z.enum(["waiting", "fired", "cancelled"]),
    cancelled_by: z.enum([...cancelEvents, "person", "model", "gone"]).nullable(),
    due_at: z.number(),
    created_at: z.number(),
    ended_at: z.number().nullable(),
  })
  .meta({ id: "Timer" });

export type TimerRecord = z.output<typeof TimerRecord>;

export const toRecord = (row: TimerRow): TimerRecord => ({
  id: row.id,
  chat_id: row.chat_id,
  message_id: row.message_id,
  call_id: row.call_id,
  prompt: row.prompt,
  cancel_on: row.cancel_on,
  state: row.state,
  cancelled_by: row.cancelled_by,
  due_at: row.due_at,
  created_at: row.created_at,
  ended_at: row.ended_at,
});
