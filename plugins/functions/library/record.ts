import type { FunctionFacts } from "../calls/facts.ts";
import type { FunctionRow } from "./function-store.ts";

/** A function as every list shows it: without code and valves. */
export function toRecord(row: FunctionRow) {
  const { id, user_id, name, meta, is_active, is_global, error, pending, created_at, updated_at } = row;
  const type = row.type as FunctionFacts["type"];
  const version_id = String(row.version);
  const state = { is_active, is_global, version_id, error, pending };
  return { id, user_id, name, type, meta, ...state, created_at, updated_at };
}

/** With its code; valves have routes of their own. */
export function toFullRecord(row: FunctionRow) {
  return { ...toRecord(row), content: row.content };
}

/** The `meta` of a record: the author's own words win over the manifest of the code. */
export function toMeta(
  given: Readonly<Record<string, unknown>> | undefined,
  facts: FunctionFacts,
  stored: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { group_ids: _given, ...free } = given ?? stored;
  const groups = stored["group_ids"];
  return {
    ...free,
    // Set by administrators alone, by a route of its own.
    ...(groups === undefined ? {} : { group_ids: groups }),
    description: toDescription(given, facts.description, stored),
    manifest: facts.manifest,
    icon: facts.icon,
    toggle: facts.toggle,
    has_valves: facts.valves !== undefined,
    has_user_valves: facts.userValves !== undefined,
  };
}

/** The words of a record about itself: the author's own, else the code's. */
export function toDescription(
  given: Readonly<Record<string, unknown>> | undefined,
  declared: string,
  stored: Readonly<Record<string, unknown>> = {},
): unknown {
  // An edit that says nothing about it keeps what an administrator wrote, unless that was the code's own words.
  const before = stored["description"] === toManifestText(stored) ? undefined : stored["description"];
  return (given === undefined ? before : given["description"]) || declared;
}

function toManifestText(stored: Readonly<Record<string, unknown>>): unknown {
  return (stored["manifest"] as Record<string, unknown> | undefined)?.["description"];
}
