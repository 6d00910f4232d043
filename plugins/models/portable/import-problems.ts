import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ModelParts } from "../parts.ts";
import { findWritable } from "../records/rights.ts";
import { findRows } from "../records/store.ts";
import { requireModelId } from "../records/values.ts";
import { StorableModel } from "../schema.ts";
import { type ImportMode, planOne } from "./import.ts";
import type { Portable } from "./portable.ts";

/** An entry of a list that an import refuses. */
export interface ImportProblem {
  /** Its place in the list, from 0. */
  readonly index: number;
  readonly id: string | null;
  readonly reason: string;
}

/** Every entry that an import would refuse, each by itself: all of them can be corrected at once. */
export async function findImportProblems(
  parts: ModelParts,
  caller: Principal,
  { models, mode }: { models: readonly unknown[]; mode: ImportMode },
): Promise<ImportProblem[]> {
  const problems: ImportProblem[] = [];
  const places = new Map<string, number>();
  for (const [index, given] of models.entries()) {
    const parsed = StorableModel.safeParse(given);
    const id = idOf(given);
    const reason = parsed.success
      ? await findReason(parts, caller, { model: parsed.data, mode, places, index })
      : parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(": ")).join("; ");
    if (reason !== undefined) {
      problems.push({ index, id, reason });
    }
  }
  return problems;
}

interface Entry {
  readonly model: Portable;
  readonly mode: ImportMode;
  readonly index: number;
  /** Where each id was seen first. */
  readonly places: Map<string, number>;
}

async function findReason(
  parts: ModelParts,
  caller: Principal,
  { model, mode, places, index }: Entry,
): Promise<string | undefined> {
  const first = places.get(model.id);
  if (first !== undefined) {
    return `id: repeats entry ${first}`;
  }
  places.set(model.id, index);
  try {
    const [row] = await findRows(parts.db, [requireModelId(model.id)]);
    if (row !== undefined && !(await findWritable(parts, caller, [row])).has(row.id)) {
      return `You may not change the model "${row.id}".`;
    }
    await planOne(parts, caller, { model, row, mode });
    return undefined;
  } catch (error) {
    if (error instanceof AppError) {
      return error.message;
    }
    throw error;
  }
}

function idOf(given: unknown): string | null {
  const id = typeof given === "object" && given !== null ? (given as { id?: unknown }).id : undefined;
  return typeof id === "string" ? id : null;
}
