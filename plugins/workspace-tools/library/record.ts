import type { Principal } from "#kernel/access/principal.ts";
import type { AuditEntry, AuditVerb } from "#plugins/audit/service.ts";
import { toDescription } from "#plugins/functions/service.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { ToolFacts } from "../facts/tool-facts.ts";
import { findObstacle } from "./approval.ts";
import type { ToolListRow, ToolRow } from "./tool-store.ts";

/** What of a tool the caller may see. */
export interface View {
  readonly grants: readonly GrantRow[];
  readonly writable: boolean;
}

/** A tool as its readers see it: what it does, and neither its code nor its valves. */
export function toItem(row: ToolListRow, { grants, writable }: View) {
  const { id, user_id, name, specs, meta, created_at, updated_at } = row;
  return {
    id,
    user_id,
    name,
    meta,
    specs: specs.map(({ name: called, description, parameters }) => ({
      name: called,
      description,
      parameters,
    })),
    access_grants: writable ? grants.map((grant) => ({ ...grant })) : [],
    write_access: writable,
    is_usable: findObstacle(row) === undefined,
    created_at,
    updated_at,
    ...(writable && { version_id: String(row.version), error: row.error, pending: row.pending }),
  };
}

/** With its code, for those who may change it. */
export function toFull(row: ToolRow, view: View) {
  return { ...toItem(row, view), ...(view.writable && { content: row.content }) };
}

/** The `meta` of a record (contract 4.3): the author's own words win over the manifest of the code. */
export function toMeta(
  given: Readonly<Record<string, unknown>> | undefined,
  facts: ToolFacts,
  stored: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    ...(given ?? stored),
    description: toDescription(given, facts.description, stored),
    manifest: facts.manifest,
    has_valves: facts.valves !== undefined,
    has_user_valves: facts.userValves !== undefined,
  };
}

/** The audit record of one change of a tool. */
export function toEntry(
  action: AuditVerb,
  sides: { before?: ToolRow; after?: ToolRow; grants?: readonly GrantInput[] },
): AuditEntry {
  const { before, after, grants } = sides;
  const row = after ?? before;
  return {
    action: `tool.${action}`,
    object: { type: "tool", id: row?.id ?? "", name: row?.name ?? null },
    ...(before && { before: toState(before) }),
    ...(after && { after: { ...toState(after), ...(grants && { access_grants: grants.map(toGrant) }) } }),
  };
}

/** Code stands in the versions; the record names them. */
function toState({ name, version, error, pending, approved }: ToolRow): Record<string, unknown> {
  return { name, version, error, pending, approved };
}

function toGrant({ principal_type: type, principal_id: id, permission }: GrantInput): object {
  return { principal_type: type, principal_id: id, permission };
}

/** Who did it, as events name people. */
export function toActor({ userId, name, email, role }: Principal) {
  return { id: userId, name, email, role };
}
