import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import type { Sandbox, Script } from "#kernel/sandbox.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { AuditEntry } from "#plugins/audit/service.ts";
import type {
  createInvoke,
  CreateHost,
  HostParts,
  UserValves,
  ValveVault,
} from "#plugins/functions/service.ts";
import type { ToolFacts } from "./facts/tool-facts.ts";
import type { ToolRow } from "./library/tool-store.ts";
import type { ToolsDatabase, ToolsTransaction } from "./tables.ts";

/** The resource_type of grants on tools. */
export const resourceType = "tool";

/** Code that is to be loaded. */
export type ToolCode = Pick<ToolRow, "id" | "user_id" | "content">;

/** What the parts of this plugin share. */
export interface ToolParts {
  readonly db: ToolsDatabase;
  readonly transaction: ToolsTransaction;
  readonly log: Logger;
  readonly access: Access;
  readonly accounts: Accounts;
  readonly grants: Grants;
  readonly events: Pick<Events, "announce">;
  readonly sandbox: Sandbox;
  readonly tools: Loader<ToolRow>;
  readonly vault: ValveVault;
  readonly userValves: UserValves;
  readonly host: CreateHost;
  readonly hostParts: HostParts;
  readonly invoke: ReturnType<typeof createInvoke>;
  /** Loads code and reads what it declares; facts of unchanged code are kept. Throws `invalid` with line and column. */
  loadFacts(code: ToolCode): Promise<ToolFacts>;
  /** Drops what is in memory of a tool that was changed or deleted. */
  forget(id: string): void;
  dropUserValves(id: string): Promise<void>;
  record(entry: AuditEntry, transaction?: ToolsDatabase): Promise<void>;
}

const prefix = "tool:";

/** The name of a tool inside the sandbox; functions may have the same ids. */
export const toScriptId = (id: string): string => prefix + id;

/** The tool that a script's name belongs to; undefined for scripts of other plugins. */
export const toToolId = (scriptId: string): string | undefined =>
  scriptId.startsWith(prefix) ? scriptId.slice(prefix.length) : undefined;

/** The script of a stored tool: code of one author shares an isolate, and no two authors do. */
export function toScript({ id, user_id: owner, content }: ToolCode): Script {
  return { owner, id: toScriptId(id), source: content };
}

/** Where a tool's valves are kept: a sealed value opens nowhere else. */
export const toValvePlace = (id: string): string => `tool:${id}`;

/** The saved valves that the code sees, over its defaults. */
export function completeValves(
  { vault }: Pick<ToolParts, "vault">,
  row: Pick<ToolRow, "id" | "valves">,
  { valves }: Pick<ToolFacts, "valves">,
) {
  return valves?.complete(vault.open(row.valves, toValvePlace(row.id))) ?? {};
}

/** Who may change a tool: as the loader decides, with the row of now. */
export type FindTool = (caller: Principal, id: string) => Promise<ToolRow>;
