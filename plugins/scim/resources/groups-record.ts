import { isObject, toObject } from "#config/json-values.ts";
import { groupAttributes } from "../discovery/attributes.ts";
import { urns } from "../discovery/urns.ts";
import { refusal, requireSchema } from "../errors.ts";
import { toValue } from "../patch/values.ts";
import type { GroupState, Member, State } from "./state.ts";
import { toMeta } from "./users-record.ts";

/** The columns of a group that SCIM shows. */
export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly meta: Record<string, unknown> | null;
  readonly created_at: number;
  readonly updated_at: number;
}

const longestName = 200;

/** What a provider can write of a group, in the words of SCIM. */
export function toGroupState(row: GroupRow, members: readonly Member[]): GroupState {
  const externalId = toObject(toObject(row.meta)["scim"])["external_id"];
  return {
    displayName: row.name,
    ...(typeof externalId === "string" && { externalId }),
    members: [...members],
  };
}

/** Reads the body of a POST or PUT. Throws `invalid`. */
export function readGroup(body: unknown): GroupState {
  if (!isObject(body)) {
    throw refusal("invalidSyntax", "The body must be an object.");
  }
  const fields = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
  requireSchema(fields.get("schemas"), urns.group, "invalidValue");
  const state: State = { members: [] };
  for (const attribute of groupAttributes) {
    const value = toValue(attribute, fields.get(attribute.name.toLowerCase()));
    if (value !== undefined) {
      state[attribute.name] = value;
    }
  }
  if (typeof state["displayName"] !== "string") {
    throw refusal("invalidValue", "displayName is missing.");
  }
  return state as unknown as GroupState;
}

/** The name under which a group is kept. Throws `invalid` (invalidValue). */
export function requireGroupName({ displayName }: GroupState): string {
  const name = displayName.trim();
  if (name === "" || name.length > longestName) {
    throw refusal("invalidValue", `displayName must have 1 to ${longestName} characters.`);
  }
  return name;
}

/** The ids of a state's members, each once. Throws `invalid` (invalidValue) for a member without one. */
export function memberIds({ members }: GroupState): Set<string> {
  const ids = new Set<string>();
  for (const { value } of members as readonly Partial<Member>[]) {
    if (value === undefined) {
      throw refusal("invalidValue", "A member has no value.");
    }
    ids.add(value);
  }
  return ids;
}

/** The whole resource (RFC 7643, 4.2); without `members` where they were not asked for. */
export function toGroupResource(row: GroupRow, members: readonly Member[] | undefined, base: string): State {
  const { members: all, ...state } = toGroupState(row, members ?? []);
  return {
    schemas: [urns.group],
    id: row.id,
    ...state,
    ...(members !== undefined && {
      members: all.map(({ value, display }) => ({
        value,
        $ref: `${base}/Users/${value}`,
        type: "User",
        ...(display !== undefined && { display }),
      })),
    }),
    meta: toMeta("Group", row, `${base}/Groups/${row.id}`),
  };
}
