import type { ColumnType, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;
type Bag = Readonly<Record<string, unknown>>;

export const resourceType = "automation";

/** The task of an automation, and its rule. */
export interface AutomationData {
  readonly prompt: string;
  readonly model_id: string;
  readonly rrule: string;
  readonly terminal?:
    | { readonly server_id: string; readonly cwd?: string | null | undefined }
    | null
    | undefined;
}

/** Times are epoch seconds. */
export interface AutomationTable {
  id: string;
  user_id: string;
  folder_id: string | null;
  name: string;
  data: Json<AutomationData>;
  meta: Json<Bag | null>;
  is_active: boolean;
  /** The start of a rule that names none. */
  anchor_at: number;
  /** The owner's zone when the rule was written. */
  time_zone: string;
  last_run_at: number | null;
  next_run_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A run that has ended; `slot` is the time it was due, null when somebody asked for it. */
export interface AutomationRunTable {
  id: string;
  automation_id: string;
  slot: number | null;
  chat_id: string | null;
  status: "success" | "error";
  error: string | null;
  created_at: number;
}

/** A run under way. `token` grows each time another process takes it over: who holds an older one may do nothing. */
export interface AutomationClaimTable {
  id: string;
  automation_id: string;
  slot: number | null;
  token: number;
  owner: string;
  beat_at: ColumnType<Date, unknown, unknown>;
  created_at: number;
}

export interface AutomationTables {
  automation: AutomationTable;
  automation_run: AutomationRunTable;
  automation_claim: AutomationClaimTable;
}

export type AutomationRow = Selectable<AutomationTable>;
export type RunRow = Selectable<AutomationRunTable>;
export type Claim = Selectable<AutomationClaimTable>;
export type AutomationDatabase = PluginDatabase<AutomationTables>;
export type Transact = PluginContext<never, never, AutomationTables>["transaction"];
