import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import type { ProviderIds } from "../service.ts";
import type { Provided, ProvidedMap } from "./provided.ts";
import type { ModelRecord, RecordMap } from "../records/records.ts";

/** One model that can be called: a provider's model, edited by a record or offered under a record of its own. */
export interface AvailableModel {
  readonly id: string;
  readonly name: string;
  readonly base: ProviderModel;
  readonly provider: ModelProvider;
  /** From the named record down to the one that edits the provider's model. */
  readonly chain: readonly ModelRecord[];
}

/** All models that can be called at one time; `among` leaves out those of other providers. */
export interface AvailableModels {
  find(id: string, among?: ProviderIds): AvailableModel | undefined;
  all(among?: ProviderIds): readonly AvailableModel[];
}

/** Finds a model among those of some providers, also where another provider has a model of the same id. */
type FindAmong = (id: string, among: ProviderIds) => Provided | undefined;

/** Longest chain of records that may be saved. */
export const longestChain = 16;

/** Returns the same models until providers or records change; each is built on its first use. */
export function createAvailableModels(
  findAmong: FindAmong,
): (provided: ProvidedMap, records: RecordMap) => AvailableModels {
  let known: { provided: ProvidedMap; records: RecordMap; available: AvailableModels } | undefined;
  return (provided, records) => {
    if (known?.provided !== provided || known.records !== records) {
      known = { provided, records, available: toAvailable(provided, records, findAmong) };
    }
    return known.available;
  };
}

/**
 * Why `base_model_id` may not be what it is for the record `id`, given the records as they will be; undefined when
 * it may.
 */
export function findChainProblem(
  id: string,
  baseOf: (id: string) => string | null | undefined,
): string | undefined {
  const seen = new Set([id]);
  for (let at = baseOf(id); typeof at === "string"; at = baseOf(at)) {
    if (seen.has(at)) {
      return "base_model_id leads back to the model itself.";
    }
    if (seen.add(at).size > longestChain) {
      return `base_model_id makes a chain of more than ${longestChain} models.`;
    }
  }
  return undefined;
}

function toAvailable(provided: ProvidedMap, records: RecordMap, findAmong: FindAmong): AvailableModels {
  // Unknown ids are not cached: callers could name any number of them.
  const made = new Map<string, AvailableModel>();
  let all: readonly AvailableModel[] | undefined;
  const find = (id: string) => {
    const entry = made.get(id) ?? toAvailableModel(id, provided, records);
    if (entry !== undefined) {
      made.set(id, entry);
    }
    return entry;
  };
  const findOf = (id: string, among: ProviderIds) => {
    const entry = find(id);
    return entry === undefined || among.includes(entry.provider.id)
      ? entry
      : toAvailableModel(id, { get: (at) => findAmong(at, among) }, records);
  };
  return {
    find: (id, among) => (among ? findOf(id, among) : find(id)),
    all(among) {
      all ??= [...new Set([...provided.keys(), ...records.keys()])]
        .map(find)
        .filter((entry) => entry !== undefined);
      return among ? all.map(({ id }) => findOf(id, among)).filter((entry) => entry !== undefined) : all;
    },
  };
}

/** Follows base_model_id down to a provider's model; undefined when it ends nowhere, turns in a circle or is inactive. */
function toAvailableModel(
  id: string,
  provided: Pick<ProvidedMap, "get">,
  records: RecordMap,
): AvailableModel | undefined {
  const chain: ModelRecord[] = [];
  let at = id;
  for (;;) {
    const record = records.get(at);
    if (record && (!record.is_active || chain.includes(record))) {
      return undefined;
    }
    if (record) {
      chain.push(record);
    }
    if (!record || record.base_model_id === null) {
      break;
    }
    at = record.base_model_id;
  }
  const found = provided.get(at);
  const name = chain[0]?.name || found?.model.name;
  return found && name !== undefined
    ? { id, name, base: found.model, provider: found.provider, chain }
    : undefined;
}
