import type { Access } from "#kernel/access/resource.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import { fillMetadata, fillParameters } from "./defaults.ts";
import type { ModelRecord, ModelRecords } from "./records.ts";
import type { ResolvedModel } from "./service.ts";

/** Settings of the catalogue, read live. */
export interface CatalogueSettings {
  readonly order: readonly string[];
  readonly defaultMetadata: Readonly<Record<string, unknown>>;
  readonly defaultParams: Readonly<Record<string, unknown>>;
  readonly bypassAccess: boolean;
}

export interface CatalogueOptions {
  readonly records: ModelRecords;
  readonly access: Access;
  providers(): readonly ModelProvider[];
  settings(): CatalogueSettings;
}

/** One model as it is offered: a provider's model, edited by a record or offered under a record of its own. */
interface Offer {
  readonly id: string;
  readonly name: string;
  readonly base: ProviderModel;
  readonly provider: ModelProvider;
  /** From the named record down to the one that edits the provider's model. */
  readonly chain: readonly ModelRecord[];
}

interface Provided {
  readonly model: ProviderModel;
  readonly provider: ModelProvider;
}

export interface Catalogue {
  resolve(principal: Principal, id: string): Promise<ResolvedModel>;
  list(principal: Principal, options?: { refresh?: boolean }): Promise<Record<string, unknown>[]>;
  /** The providers' own models, without records. */
  base(): Promise<Record<string, unknown>[]>;
}

/** The models that exist for a caller: providers' models with the saved records laid over them. */
export function createCatalogue({ records, access, providers, settings }: CatalogueOptions): Catalogue {
  const provided = createProvidedIndex(providers);

  /** Read access holds along the whole chain: a record must not open a base model the caller may not use. */
  function may(principal: Principal, { chain, base }: Offer): boolean {
    if (settings().bypassAccess || access.passes(principal)) {
      return true;
    }
    const own = chain.every((record) => record.user_id === principal.userId || isGranted(record, principal));
    const isBaseOpen = chain.some((record) => record.base_model_id === null) || base.access === "everyone";
    return isMember(principal) && own && isBaseOpen;
  }

  return {
    async resolve(principal, id) {
      const [index, saved] = await Promise.all([provided.current(false), records.all()]);
      const offer = toOffer(id, index, saved);
      if (offer === undefined || !may(principal, offer)) {
        throw new AppError("not_found", "Model not found");
      }
      return toResolved(offer, settings());
    },

    async list(principal, options = {}) {
      const [index, saved] = await Promise.all([provided.current(options.refresh ?? false), records.all()]);
      const offers = [...new Set([...index.keys(), ...saved.keys()])]
        .map((id) => toOffer(id, index, saved))
        .filter((offer) => offer !== undefined)
        .filter((offer) => may(principal, offer));
      return toOrdered(offers, settings().order).map((offer) => toItem(offer, settings()));
    },

    async base() {
      return [...(await provided.current(true)).values()].map(({ model }) => toBaseItem(model));
    },
  };
}

function isGranted(record: ModelRecord, principal: Principal): boolean {
  return record.grants.some(
    ({ principal_type: type, principal_id: id }) =>
      (type === "user" && (id === "*" || id === principal.userId)) ||
      (type === "group" && principal.groupIds.includes(id)),
  );
}

/** Follows base_model_id down to a provider's model; undefined when it ends nowhere, turns in a circle or is inactive. */
function toOffer(
  id: string,
  index: ReadonlyMap<string, Provided>,
  saved: ReadonlyMap<string, ModelRecord>,
): Offer | undefined {
  const chain: ModelRecord[] = [];
  let at = id;
  for (;;) {
    const record = saved.get(at);
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
  const found = index.get(at);
  return (
    found && {
      id,
      name: chain[0]?.name || found.model.name,
      base: found.model,
      provider: found.provider,
      chain,
    }
  );
}

function toResolved({ id, name, base, provider, chain }: Offer, settings: CatalogueSettings): ResolvedModel {
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
    meta: fillMetadata(chain[0]?.meta ?? {}, settings.defaultMetadata),
    params: fillParameters(params, settings.defaultParams),
  };
}

function toBaseItem(model: ProviderModel): Record<string, unknown> {
  return {
    id: model.id,
    name: model.name,
    object: "model",
    created: model.created,
    owned_by: model.ownedBy,
    connection_type: model.connectionType,
    ...model.item,
    tags: model.tags,
  };
}

/** The wire item of contract 2.1: no prompt, no parameters but the controls, no picture, no names of knowledge. */
function toItem({ id, name, base, chain }: Offer, settings: CatalogueSettings): Record<string, unknown> {
  const record = chain[0];
  const {
    profile_image_url: _picture,
    knowledge: _knowledge,
    ...meta
  } = fillMetadata(record?.meta ?? {}, settings.defaultMetadata);
  const tags = Array.isArray(meta["tags"]) ? (meta["tags"] as unknown[]) : [];
  const item = { ...toBaseItem(base), id, name, tags: [...base.tags, ...tags], actions: [], filters: [] };
  const info = {
    id,
    name,
    base_model_id: record?.base_model_id ?? null,
    meta,
    params: { model_controls: record?.params["model_controls"] ?? [] },
    ...(record
      ? {
          user_id: record.user_id,
          is_active: record.is_active,
          created_at: record.created_at,
          updated_at: record.updated_at,
        }
      : {}),
  };
  return { ...item, ...(record?.base_model_id ? { preset: true, created: record.created_at } : {}), info };
}

function toOrdered(offers: readonly Offer[], order: readonly string[]): Offer[] {
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (offer: Offer) => places.get(offer.id) ?? order.length;
  return offers.toSorted(
    (a, b) => placeOf(a) - placeOf(b) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1),
  );
}

/**
 * The providers' models by id. Providers hand out the same array until their lists change, so the index is built
 * once a change, not once a request. Of two models with one id the later provider's wins.
 */
function createProvidedIndex(providers: () => readonly ModelProvider[]) {
  let seen: (readonly ProviderModel[])[] = [];
  let index: ReadonlyMap<string, Provided> = new Map();
  return {
    async current(refresh: boolean): Promise<ReadonlyMap<string, Provided>> {
      const all = providers();
      const lists = await Promise.all(all.map((provider) => provider.models({ refresh })));
      if (lists.length !== seen.length || lists.some((list, at) => list !== seen[at])) {
        index = new Map(
          lists.flatMap((list, at) =>
            list.map((model) => [model.id, { model, provider: all[at] as ModelProvider }] as const),
          ),
        );
        seen = lists;
      }
      return index;
    },
  };
}
