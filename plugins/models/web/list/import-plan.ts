/** One record of a file, and what becomes of it. */
export interface Planned {
  readonly id: string;
  readonly name: string;
  readonly change: "new" | "changed" | "same" | "bad";
  /** Why it cannot be taken, and the names of the fields that differ. */
  readonly text: string;
}

export interface Plan {
  readonly models: readonly Planned[];
  /** Models that a sync would delete. */
  readonly deleted: readonly { readonly id: string; readonly name: string }[];
}

type Bag = Readonly<Record<string, unknown>>;

const compared = ["name", "base_model_id", "meta", "params", "is_active"] as const;

/** Compares a file's models with those that are saved. Throws when the file is no list of models. */
export function planImport(text: string, saved: readonly Bag[]): { plan: Plan; models: readonly Bag[] } {
  const models = readList(text);
  const byId = new Map(saved.map((record) => [record["id"], record]));
  const seen = new Map<unknown, number>();
  const planned = models.map((model, index): Planned => {
    const { id, name } = model;
    const place = `${index + 1}`;
    if (typeof id !== "string" || id === "") {
      return { id: place, name: String(name ?? ""), change: "bad", text: `models.${index}.id: is missing` };
    }
    if (seen.has(id)) {
      return {
        id,
        name: String(name ?? id),
        change: "bad",
        text: `models.${index}.id: repeats number ${(seen.get(id) ?? 0) + 1}`,
      };
    }
    seen.set(id, index);
    const before = byId.get(id);
    const differing = before
      ? compared.filter((field) => field in model && !isSame(model[field], before[field]))
      : [];
    const change = before ? (differing.length > 0 ? "changed" : "same") : "new";
    return { id, name: String(name ?? before?.["name"] ?? id), change, text: differing.join(", ") };
  });
  const deleted = saved
    .filter(({ id }) => !seen.has(id))
    .map(({ id, name }) => ({ id: String(id), name: String(name) }));
  return { plan: { models: planned, deleted }, models };
}

function readList(text: string): readonly Bag[] {
  const read: unknown = JSON.parse(text);
  const list = Array.isArray(read) ? read : (read as { models?: unknown } | null)?.models;
  if (!Array.isArray(list) || list.some((entry) => typeof entry !== "object" || entry === null)) {
    throw new Error("The file holds no list of models.");
  }
  return list as readonly Bag[];
}

/** Equal whatever the order of keys; what is absent is as good as null. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, held]) => held !== null && held !== undefined);
    return Object.fromEntries(
      entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, held]) => [key, sorted(held)]),
    );
  }
  return value ?? null;
}
