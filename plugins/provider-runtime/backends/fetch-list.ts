import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { Backend } from "./backend.ts";
import type { RuntimeClient } from "./client.ts";

/** One model as a backend lists it. */
export interface ListedModel {
  readonly id: string;
  /** The backend's own item; all its keys are kept. */
  readonly item: Readonly<Record<string, unknown>>;
  /** Until when the backend keeps it in memory; undefined when it is not loaded. */
  readonly expiresAt: unknown;
}

export interface RuntimeList {
  readonly models: readonly ListedModel[];
}

const largestList = 10 * 1024 * 1024;
const mostModels = 20_000;
const longestId = 1024;

/** Fetches what a backend holds and what it has in memory, within `timeLimit` milliseconds. Throws like every call. */
export async function fetchList(
  client: RuntimeClient,
  backend: Backend,
  timeLimit: number,
): Promise<RuntimeList> {
  const ask = async (path: string) => parseItems(await readJson(client, backend, { path, timeLimit }));
  // Loaded models are information only: older runtimes do not have the route.
  const loading = ask("/api/ps").catch(() => []);
  const items = await ask("/api/tags");
  const loaded = new Map((await loading).map(({ id, item }) => [id, item["expires_at"] ?? null]));
  return { models: items.map(({ id, item }) => ({ id, item, expiresAt: loaded.get(id) })) };
}

/** The JSON answer of a GET. Throws AppError `upstream` for anything else. */
export async function readJson(
  client: RuntimeClient,
  backend: Backend,
  { path, timeLimit }: { path: string; timeLimit: number },
): Promise<unknown> {
  const upstream = await client.open(backend, { path, method: "GET", timeLimit });
  const text = await readText(upstream.body, largestList);
  try {
    // As strict as with clients: what nests too deep could not be written into any answer.
    return parseJson(text);
  } catch (error) {
    throw new AppError("upstream", "The runtime's answer is not valid JSON.", { cause: error });
  }
}

/** Reads `{models: [{name, model, …}]}`. Entries without a name are left out. Throws AppError `upstream` for anything else. */
export function parseItems(answer: unknown): { id: string; item: Record<string, unknown> }[] {
  const entries = (answer as { models?: unknown } | null)?.models;
  // A runtime without a single model says null.
  if (entries !== null && !Array.isArray(entries)) {
    throw new AppError("upstream", "The runtime's list of models is not one.");
  }
  const items = new Map<string, Record<string, unknown>>();
  for (const entry of (entries ?? []).slice(0, mostModels)) {
    const item = (typeof entry === "object" && entry !== null ? entry : {}) as Record<string, unknown>;
    const id = [item["model"], item["name"]].find((text) => typeof text === "string" && text !== "");
    if (typeof id === "string" && id.length <= longestId) {
      items.set(id, item);
    }
  }
  return [...items].map(([id, item]) => ({ id, item }));
}
