import type { ColumnType, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";
import type { CapturedRequest } from "#plugins/subagents/service.ts";

export const cancelEvents = ["chat.read", "chat.user_message"] as const;

/** Events that end a timer before its time (contract §9). */
export type CancelEvent = (typeof cancelEvents)[number];

/** `gone`: the account may not use the platform any more. */
export type CancelledBy = CancelEvent | "person" | "model" | "gone";

/** A moment at which a chat goes on by itself. Times are epoch seconds. */
export interface TimerTable {
  id: string;
  user_id: string;
  chat_id: string;
  /** The reply and call that set it, and the message that the reply answers. */
  message_id: string | null;
  question_id: string | null;
  call_id: string | null;
  prompt: string;
  cancel_on: ColumnType<CancelEvent[], string, string>;
  state: "waiting" | "fired" | "cancelled";
  cancelled_by: CancelledBy | null;
  /** The reply is asked with this. */
  request: ColumnType<CapturedRequest, string, string>;
  due_at: number;
  created_at: number;
  ended_at: number | null;
  /** The process that fires it, how long it may take, and a number that grows with each process that tries. */
  claim_owner: string | null;
  claim_until: ColumnType<Date | null, unknown, unknown>;
  claim_token: number;
}

export interface TimerTables {
  timer: TimerTable;
}

export type TimerRow = Selectable<TimerTable>;
export type TimerDatabase = PluginDatabase<TimerTables>;
export type Transact = PluginContext<never, never, TimerTables>["transaction"];
