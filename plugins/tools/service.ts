import type { Principal } from "#kernel/access/principal.ts";
import { defineSlot } from "#kernel/service.ts";
import type { ToolSpec } from "#kernel/tools/tool.ts";

/** One entry of the list of tools that somebody may use: a workspace tool, or a whole tool server. */
export interface ListedTool {
  /** What requests name in `tool_ids`: the id of a workspace tool, `server:<id>` or `server:mcp:<id>`. */
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** The kind of server; workspace tools have none. */
  readonly server?: { readonly type: "openapi" | "mcp" } | undefined;
  /** Whether the person has signed in to a server that wants it; left out for those that do not. */
  readonly authenticated?: boolean | undefined;
  readonly write_access?: boolean | undefined;
  readonly [field: string]: unknown;
}

/** What a reader is told of one function. */
export type ListedSpec = Pick<ToolSpec, "name" | "description"> & { readonly parameters?: unknown };

/** Tools of one kind that people may choose; ids are told apart by their form. */
export interface ToolListing {
  /** Those that the caller may use now, in the order they are shown. Never throws because of a server that fails. */
  list(caller: Principal): Promise<readonly ListedTool[]>;
  /**
   * The functions of one of its servers, which is asked now; undefined for ids that are not its own. Core API, Errors:
   * ids of all but MCP servers are unknown here.
   */
  specs?(
    caller: Principal,
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly specs: readonly ListedSpec[] } | undefined>;
}

/** Filled by plugins that bring tools which people choose; fills of workspace tools come first. */
export const toolListings = defineSlot<ToolListing>("tools.listings");
