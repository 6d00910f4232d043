import type { Principal } from "#kernel/access/principal.ts";
import { defineService, defineSlot } from "#kernel/service.ts";
import type { Tool, ToolRun, ToolSpec } from "#kernel/tools/tool.ts";
import type { StoredServer } from "./connections/schema.ts";

import { toOutput } from "./openapi/answer.ts";
import { readDocument } from "./web/openapi/document.ts";
import { type Operation, toOperations } from "./web/openapi/operations.ts";
import { toRequest } from "./web/openapi/request.ts";

export { isNameAllowed } from "./connections/name-filter.ts";
export type { Operation } from "./web/openapi/operations.ts";

/** Translates OpenAPI documents into functions for models, for servers that are reached in another way. */
export const openApi = {
  /** The operations of a parsed document or of its text. */
  read: async (document: unknown): Promise<readonly Operation[]> =>
    toOperations(await readDocument(document)),
  /** The request of one call below `base`; throws an Error with words for the model. */
  request: toRequest,
  /** What an answer is to the model and to people. */
  output: toOutput,
};
export type OpenApi = typeof openApi;

/** A configured tool server (contract §5.1), with what its entry comes to. */
export interface ToolServerConnection extends StoredServer {
  /** `info.id`, else its place in the list. */
  readonly id: string;
  /** What requests name in `tool_ids`: `server:<id>`, `server:mcp:<id>`. */
  readonly toolId: string;
  readonly index: number;
  readonly url: string;
  readonly type: "openapi" | "mcp";
  readonly auth_type: string;
  readonly key: string;
  /** Its name for people: `info.name`, else its host. */
  readonly name: string;
  readonly description: string;
  /** Header templates (contract §5.4). */
  readonly headerTemplates: readonly (readonly [name: string, template: string])[];
  readonly isEnabled: boolean;
  /** Why it cannot be used although it is enabled. */
  readonly problem: string | undefined;
  /** Changes with whatever a call of it depends on. */
  readonly fingerprint: string;
}

/** The configured tool servers. */
export interface ToolServers {
  /** Those that the caller may use: enabled, usable and granted. */
  readable(principal: Principal): Promise<readonly ToolServerConnection[]>;
  /** All that are enabled and usable. */
  all(): readonly ToolServerConnection[];
  /** Calls the listener whenever one was added, changed or removed, on this replica or another. */
  changed(listener: () => void): () => void;
}

export const toolServers = defineService<ToolServers>("tool-servers");

/** A reply that tools of a server are chosen for. */
export interface ToolServerSelection {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Left out where somebody only looks. */
  readonly run?: ToolRun | undefined;
  /** Told in a sentence for the person why tools are missing. */
  onProblem(text: string): void;
}

/** How a server fares, for administrators. */
export interface ToolServerState {
  readonly state: "unknown" | "reachable" | "failing";
  readonly reason: string | null;
  /** Epoch seconds. */
  readonly checked_at: number | null;
  readonly latency_ms: number | null;
  readonly functions: readonly {
    readonly name: string;
    readonly description: string;
    readonly is_read_only: boolean;
    /** False where the server's filter leaves it out. */
    readonly is_offered: boolean;
  }[];
}

/** Speaks with the servers of one type. Grants were checked before it is asked. */
export interface ToolServerKind {
  readonly type: ToolServerConnection["type"];
  /** Tries a connection that need not be stored; the answer of `POST /configs/tool_servers/verify`. */
  verify(connection: ToolServerConnection, principal: Principal, signal: AbortSignal): Promise<object>;
  /** Its tools; their `id`, `server` and `isExternal` are set by whoever asks. */
  tools(connection: ToolServerConnection, selection: ToolServerSelection): Promise<readonly Tool[]>;
  /** What the list of tools says beside the name; asks nobody outside. */
  list?(connection: ToolServerConnection, principal: Principal): Promise<{ authenticated?: boolean }>;
  /** The functions, for people who look at them. */
  specs?(
    connection: ToolServerConnection,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<{ readonly specs: readonly ToolSpec[] }>;
  /** The known state of the server; `isAsked` asks it again. Left out, the result of `verify` counts. */
  state?(connection: ToolServerConnection, isAsked: boolean): Promise<ToolServerState>;
  /** Why a connection of this type cannot be used, in words for an administrator. */
  findProblem?(connection: StoredServer): string | undefined;
}

/** Filled once for each type of server. */
export const toolServerKinds = defineSlot<ToolServerKind>("tool-servers.kinds");
