/** One record of a file, and what becomes of it. */
export interface Planned {
  /** Its place in the file, from 1, with its id: "3: pilot". */
  readonly place: string;
  readonly name: string;
  readonly change: "new" | "changed" | "same" | "bad";
  /** Why it cannot be taken, else the names of the fields that differ. */
  readonly text: string;
}

export interface Plan {
  readonly models: readonly Planned[];
  /** Models that a sync would delete. */
  readonly deleted: readonly { readonly id: string; readonly name: string }[];
}

/** An entry that the server refuses. */
export interface Problem {
  readonly index: number;
  readonly reason: string;
}

type Bag = Readonly<Record<string, unknown>>;

const compared = ["name", "base_model_id", "meta", "params", "is_active"] as const;

/** The entries of a file. Throws when it is no list of models. */
export function readList(text: string): readonly unknown[] {
  const read: unknown = JSON.parse(text);
  const list = Array.isArray(read) ? read : (read as { models?: unknown } | null)?.models;
  if (!Array.isArray(list)) {
    throw new Error("The file holds no list of models.");
  }
  return list;
}

/** Compares a file's models with those that are saved. */
export function planImport(
  entries: readonly unknown[],
  { saved, problems }: { saved: readonly Bag[]; problems: readonly Problem[] },
): Plan {
  const byId = new Map(saved.map((record) => [record["id"], record]));
  const reasons = new Map(problems.map(({ index, reason }) => [index, reason]));
  const models = entries.map((entry, index): Planned => {
    const model = (typeof entry === "object" && entry !== null ? entry : {}) as Bag;
    const { id, name } = model;
    const before = byId.get(id);
    const shown = {
      place: typeof id === "string" && id !== "" ? `${index + 1}: ${id}` : `${index + 1}`,
      name: String(name ?? before?.["name"] ?? id ?? ""),
    };
    const reason = reasons.get(index);
    if (reason !== undefined) {
      return { ...shown, change: "bad", text: reason };
    }
    const differing = before
      ? compared.filter((field) => field in model && !isSame(model[field], before[field]))
      : [];
    const change = before ? (differing.length > 0 ? "changed" : "same") : "new";
    return { ...shown, change, text: differing.join(", ") };
  });
  const named = new Set(entries.map((entry) => (entry as Bag | null)?.["id"]));
  const deleted = saved
    .filter(({ id }) => !named.has(id))
    .map(({ id, name }) => ({ id: String(id), name: String(name) }));
  return { models, deleted };
}

/** How many there are of each kind. */
export function countOf({ models }: Plan): Readonly<Record<Planned["change"], number>> {
  const count = (change: Planned["change"]) => models.filter((model) => model.change === change).length;
  return { new: count("new"), changed: count("changed"), same: count("same"), bad: count("bad") };
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
