import { randomInt } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { type MaybePromise, mapMaybe } from "#kernel/maybe-promise.ts";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import { type Arena, toMembers } from "./arena.ts";
import { toGrants } from "./audience-grants.ts";
import { fillMetadata, fillParameters } from "./defaults.ts";
import { type ListItem, toArenaItem, toBaseItem, toItem } from "./items.ts";
import { createAvailableModels, type AvailableModel, type AvailableModels } from "./available-models.ts";
import type { Permit } from "./permit.ts";
import type { Provided, ProvidedIndex } from "./provided.ts";
import type { ModelRecords } from "../records/records.ts";
import type { ModelAddons, ProviderIds, ResolvedModel } from "../service.ts";

/** Settings of the catalogue, read live. */
export interface CatalogueSettings {
  readonly order: readonly string[];
  readonly defaultMetadata: Readonly<Record<string, unknown>>;
  readonly defaultParams: Readonly<Record<string, unknown>>;
  readonly arenaEnabled: boolean;
  readonly arenas: readonly Arena[];
}

export interface CatalogueOptions {
  readonly records: ModelRecords;
  readonly permit: Permit;
  readonly provided: ProvidedIndex;
  addons(): readonly ModelAddons[];
  /** True when the model's last call failed. */
  isFailing(modelId: string): boolean;
  settings(): CatalogueSettings;
}

export interface Catalogue {
  /** Throws `not_found`. Every completion asks: the same object comes back until models, records or settings change. */
  resolve(principal: Principal, id: string, among?: ProviderIds): MaybePromise<ResolvedModel>;
  /** Resolves without an access check; undefined when no model is available under this id. */
  resolveAsInstance(id: string): Promise<ResolvedModel | undefined>;
  /** A model that a caller's client brings along. */
  direct(model: ProviderModel, provider: ModelProvider): ResolvedModel;
  list(principal: Principal, options?: { refresh?: boolean; among?: ProviderIds }): Promise<ListItem[]>;
  /** The providers' own models, without records, with whom their connections let in. */
  base(): Promise<ListItem[]>;
  /** The provider's model behind an id. Throws `not_found`. */
  find(id: string): Promise<Provided>;
  /** True when the id is taken: by a provider's model, an arena or a record. */
  isKnown(id: string): MaybePromise<boolean>;
  /** True when a provider or an arena offers a model of this id now. */
  isOffered(id: string): Promise<boolean>;
  /** True when the caller may use the model of this id now. */
  mayUse(principal: Principal, id: string): Promise<boolean>;
}

interface Wanted {
  readonly id: string;
  readonly among: ProviderIds | undefined;
}

/** Marks a model whose last call failed. */
const withState =
  ({ isFailing }: Pick<CatalogueOptions, "isFailing">) =>
  (item: ListItem): ListItem =>
    isFailing(item.id) ? { ...item, failing: true } : item;

/** The models that exist for a caller: providers' models with the saved records laid over them. */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { records, permit, provided, settings } = options;
  const toAvailable = createAvailableModels(provided.find);
  const resolved = createResolved();
  const current = (): MaybePromise<AvailableModels> =>
    mapMaybe(provided.current(false), (models) =>
      mapMaybe(records.current(), (saved) => toAvailable(models, saved)),
    );
  const arenasOf = ({ arenaEnabled, arenas } = settings()) => (arenaEnabled ? arenas : []);
  const findArena = (id: string) => arenasOf().find((arena) => arena.id === id);

  function usable(principal: Principal, available: AvailableModels, among?: ProviderIds): AvailableModel[] {
    return available.all(among).filter((entry) => permit.model(principal, entry));
  }

  /** Picks a member at random for each request, among those the caller may use: an arena opens no model. */
  function choose(
    principal: Principal,
    arena: Arena,
    available: AvailableModels,
  ): AvailableModel | undefined {
    const may = permit.grants(principal, arena.meta.access_grants ?? []);
    const members = may ? toMembers(arena, usable(principal, available).map(toCandidate)) : [];
    const chosen = members[members.length > 1 ? randomInt(members.length) : 0];
    return chosen === undefined ? undefined : available.find(chosen);
  }

  function resolveOf(available: AvailableModels, principal: Principal, { id, among }: Wanted): ResolvedModel {
    const arena = findArena(id);
    const entry = arena ? choose(principal, arena, available) : available.find(id, among);
    if (entry === undefined || !permit.model(principal, entry)) {
      throw unknown();
    }
    const model = resolved(entry, settings());
    return arena ? { ...model, id, name: arena.name, selectedModelId: entry.id } : model;
  }

  return {
    resolve: (principal, id, among) =>
      mapMaybe(current(), (available) => resolveOf(available, principal, { id, among })),

    async resolveAsInstance(id) {
      const entry = (await current()).find(id);
      return entry && resolved(entry, settings());
    },

    direct(base, provider) {
      const { id, name } = base;
      return { ...toResolved({ id, name, base, provider, chain: [] }, settings()), isDirect: true };
    },

    async list(principal, { refresh = false, among } = {}) {
      const addons = options.addons();
      await Promise.all(addons.map((addon) => addon.ready()));
      const available = toAvailable(await provided.current(refresh), await records.fresh());
      const arenas = arenasOf().filter((arena) => choose(principal, arena, available));
      const hidden = new Set(arenas.map(({ id }) => id));
      const items = usable(principal, available, among)
        .filter(({ id }) => !hidden.has(id))
        .map((entry) => toItem(entry, resolved(entry, settings()), addons));
      const { defaultMetadata, order } = settings();
      const arenaItems = arenas.map((arena) => toArenaItem(arena, defaultMetadata, addons));
      return toOrdered([...items.map(withState(options)), ...arenaItems], order);
    },

    base: async () => [...(await provided.current(true)).values()].map(toProvidedItem),

    async find(id) {
      const entry = (await current()).find(id);
      const found = entry && { model: entry.base, provider: entry.provider };
      const own = found ?? (await provided.current(false)).get(id);
      if (own === undefined) {
        throw unknown();
      }
      return own;
    },

    isKnown: (id) =>
      findArena(id) !== undefined ||
      mapMaybe(
        provided.current(false),
        (models) => models.has(id) || mapMaybe(records.current(), (saved) => saved.has(id)),
      ),

    isOffered: async (id) => findArena(id) !== undefined || (await provided.current(false)).has(id),

    async mayUse(principal, id) {
      const entry = toAvailable(await provided.current(false), await records.fresh()).find(id);
      return entry !== undefined && permit.model(principal, entry);
    },
  };
}

const toProvidedItem = ({ model }: Provided): ListItem => ({
  ...toBaseItem(model),
  access_grants: toGrants(model.access),
});

function unknown(): AppError {
  return new AppError("not_found", "Model not found");
}

function toCandidate({ id, chain }: AvailableModel): { id: string; hidden: boolean } {
  return { id, hidden: chain[0]?.meta["hidden"] === true };
}

type Defaults = Pick<CatalogueSettings, "defaultMetadata" | "defaultParams">;

/** Resolves a model once for the same defaults. */
function createResolved(): (entry: AvailableModel, defaults: Defaults) => ResolvedModel {
  const known = new WeakMap<AvailableModel, Defaults & { readonly model: ResolvedModel }>();
  return (entry, { defaultMetadata, defaultParams }) => {
    const last = known.get(entry);
    if (last?.defaultMetadata === defaultMetadata && last.defaultParams === defaultParams) {
      return last.model;
    }
    const model = toResolved(entry, { defaultMetadata, defaultParams });
    known.set(entry, { defaultMetadata, defaultParams, model });
    return model;
  };
}

function toResolved({ id, name, base, provider, chain }: AvailableModel, settings: Defaults): ResolvedModel {
  // The named record wins; what it leaves out comes from the records below it, then from the instance's defaults.
  const params = chain.reduceRight<Readonly<Record<string, unknown>>>(
    (low, record) => fillParameters(record.params, low),
    {},
  );
  return {
    id,
    name,
    base,
    provider,
    meta: withFilters(fillMetadata(chain[0]?.meta ?? {}, settings.defaultMetadata), chain),
    params: fillParameters(params, settings.defaultParams),
  };
}

/** Filters of every record below hold as well: a record must not be a way around those of its base. */
function withFilters(
  meta: Readonly<Record<string, unknown>>,
  chain: AvailableModel["chain"],
): Readonly<Record<string, unknown>> {
  const lists = [meta, ...chain.slice(1).map((record) => record.meta)].map(({ filterIds }) => filterIds);
  const [own, ...below] = lists.map((list) => (Array.isArray(list) ? list : []));
  return below.some((list) => list.length > 0)
    ? { ...meta, filterIds: [...new Set([...(own ?? []), ...below.flat()])] }
    : meta;
}

function toOrdered(items: readonly ListItem[], order: readonly string[]): ListItem[] {
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (item: ListItem) => places.get(item.id) ?? order.length;
  return items.toSorted(
    (a, b) => placeOf(a) - placeOf(b) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
  );
}
