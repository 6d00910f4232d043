import type { AuditRecord } from "./records.ts";

/** The records of one request: what somebody did at once. The latest record stands first. */
export interface Act {
  readonly id: number;
  readonly records: readonly AuditRecord[];
}

/** Puts the records of one request together; they follow one another. */
export function toActs(records: readonly AuditRecord[]): readonly Act[] {
  const acts: { id: number; records: AuditRecord[] }[] = [];
  for (const record of records) {
    const last = acts.at(-1);
    const isSame = record.request_id !== null && last?.records[0]?.request_id === record.request_id;
    if (last !== undefined && isSame) {
      last.records.push(record);
    } else {
      acts.push({ id: record.id, records: [record] });
    }
  }
  return acts;
}

/** A party of a grant, by its id. */
export interface Party {
  readonly kind: "user" | "group" | "everyone";
  readonly id: string;
}

export interface GrantChange {
  readonly given: readonly Party[];
  readonly taken: readonly Party[];
}

/** Accounts that gained and lost access; undefined where a record changed something else. */
export function toGrantChange({
  before,
  after,
}: Pick<AuditRecord, "before" | "after">): GrantChange | undefined {
  const sides = [before, after].map((side) => (isBag(side) ? side : {}));
  const changed = new Set(sides.flatMap((side) => Object.keys(side)));
  if (changed.size !== 1 || !changed.has("access_grants")) {
    return undefined;
  }
  const [held, now] = sides.map((side) => toParties(side["access_grants"])) as [Party[], Party[]];
  const without = (list: readonly Party[], other: readonly Party[]) =>
    list.filter(({ kind, id }) => !other.some((party) => party.kind === kind && party.id === id));
  return { given: without(now, held), taken: without(held, now) };
}

/** Accounts that a record adds to or takes out of a group. */
export function toPeople({ before, after }: Pick<AuditRecord, "before" | "after">): readonly string[] {
  const ids = [before, after].flatMap((side) => (isBag(side) ? side["user_ids"] : []));
  return ids.filter((id) => typeof id === "string");
}

function toParties(grants: unknown): Party[] {
  const parties = (Array.isArray(grants) ? grants : []).filter(isBag).map((grant): Party => {
    const id = String(grant["principal_id"]);
    return { kind: id === "*" ? "everyone" : grant["principal_type"] === "group" ? "group" : "user", id };
  });
  return [...new Map(parties.map((party) => [`${party.kind} ${party.id}`, party])).values()];
}

const isBag = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
