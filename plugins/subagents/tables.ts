import type { ColumnType, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";
import type { CapturedRequest } from "./service.ts";

/** The state of a sub-agent; `stopped` where somebody stopped the reply that waited for it. */
export type SubagentState = "running" | "completed" | "failed" | "interrupted" | "stopped";

type Time = ColumnType<Date, unknown, unknown>;

/** A task that a model gave away. The chat of the sub-agent has the same id. */
export interface SubagentTable {
  id: string;
  user_id: string;
  /** The chat, reply and call that asked. */
  chat_id: string;
  message_id: string | null;
  call_id: string | null;
  mode: "foreground" | "background";
  task: string;
  state: SubagentState;
  error: string | null;
  /** The message that the asking chat goes on with. */
  request: ColumnType<CapturedRequest, unknown, unknown>;
  /** The process that works on it, and its last sign of life. */
  owner: string;
  beat_at: Time;
  /** When the result is to be told to the chat; null where it needs not be, or was. */
  report_at: ColumnType<Date | null, unknown, unknown>;
  /** Grows with each process that takes the report: who holds an older number may not tell it. */
  report_token: number;
  /** Set while a process tells it: one at a time for each chat. */
  report_owner: string | null;
  created_at: number;
  ended_at: number | null;
}

/** A chat that a message of the system is being put into. */
export interface ChatContinuationTable {
  chat_id: string;
  owner: string;
  until: Time;
}

export interface SubagentTables {
  subagent: SubagentTable;
  chat_continuation: ChatContinuationTable;
}

export type SubagentRow = Selectable<SubagentTable>;
export type SubagentDatabase = PluginDatabase<SubagentTables>;
export type Transact = PluginContext<never, never, SubagentTables>["transaction"];
