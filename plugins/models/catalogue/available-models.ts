import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import type { ProviderIds } from "../service.ts";
import type { Provided, ProvidedMap } from "./provided.ts";
import type { ModelRecord, RecordMap } from "../records/records.ts";

/** One model as it is offered: a provider's model, edited by a record or offered under a record of its own. */
export interface Offer {
  readonly id: string;
  readonly name: string;
  readonly base: ProviderModel;
  readonly provider: ModelProvider;
  /** From the named record down to the one that edits the provider's model. */
  readonly chain: readonly ModelRecord[];
}

/** Everything on offer at one time; `among` leaves models of other providers out of account. */
export interface Offers {
  find(id: string, among?: ProviderIds): Offer | undefined;
  all(among?: ProviderIds): readonly Offer[];
}

/** Finds a model among those of some providers, also where another provider's model of the same id is on offer. */
type FindAmong = (id: string, among: ProviderIds) => Provided | undefined;

/** Longest chain of records that may be saved. */
export const longestChain = 16;

/** Hands out the same offers until models or records change; each is put together when it is first asked for. */
export function createOffers(findAmong: FindAmong): (provided: ProvidedMap, records: RecordMap) => Offers {
  let known: { provided: ProvidedMap; records: RecordMap; offers: Offers } | undefined;
  return (provided, records) => {
    if (known?.provided !== provided || known.records !== records) {
      known = { provided, records, offers: toOffers(provided, records, findAmong) };
    }
    return known.offers;
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

function toOffers(provided: ProvidedMap, records: RecordMap, findAmong: FindAmong): Offers {
  // Ids that nobody offers are not remembered: callers could name any number of them.
  const made = new Map<string, Offer>();
  let all: readonly Offer[] | undefined;
  const find = (id: string) => {
    const offer = made.get(id) ?? toOffer(id, provided, records);
    if (offer !== undefined) {
      made.set(id, offer);
    }
    return offer;
  };
  const findOf = (id: string, among: ProviderIds) => {
    const offer = find(id);
    return offer === undefined || among.includes(offer.provider.id)
      ? offer
      : toOffer(id, { get: (at) => findAmong(at, among) }, records);
  };
  return {
    find: (id, among) => (among ? findOf(id, among) : find(id)),
    all(among) {
      all ??= [...new Set([...provided.keys(), ...records.keys()])]
        .map(find)
        .filter((offer) => offer !== undefined);
      return among ? all.map(({ id }) => findOf(id, among)).filter((offer) => offer !== undefined) : all;
    },
  };
}

/** Follows base_model_id down to a provider's model; undefined when it ends nowhere, turns in a circle or is inactive. */
function toOffer(id: string, provided: Pick<ProvidedMap, "get">, records: RecordMap): Offer | undefined {
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
