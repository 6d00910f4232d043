import type { MaybePromise } from "#kernel/maybe-promise.ts";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";

/** A provider's model with the provider. */
export interface Provided {
  readonly model: ProviderModel;
  readonly provider: ModelProvider;
}

export type ProvidedMap = ReadonlyMap<string, Provided>;

export interface ProvidedIndex {
  /** The providers' models by id; `refresh` waits for the upstreams, each within its time limit. */
  current(refresh: boolean): MaybePromise<ProvidedMap>;
  /** A model among those of some providers, by its id, in the lists that `current` gave last. */
  find(id: string, among: readonly string[]): Provided | undefined;
}

/**
 * Providers hand out the same array until their lists change, so the index is built once a change, not once a
 * request. Of two models with one id the later provider's wins.
 */
export function createProvidedIndex(providers: () => readonly ModelProvider[]): ProvidedIndex {
  let seen: (readonly ProviderModel[])[] = [];
  let seenOf: readonly ModelProvider[] = [];
  let index: ProvidedMap = new Map();
  const take = (all: readonly ModelProvider[], lists: (readonly ProviderModel[])[]): ProvidedMap => {
    if (lists.length !== seen.length || lists.some((list, at) => list !== seen[at])) {
      index = new Map(
        lists.flatMap((list, at) =>
          list.map((model) => [model.id, { model, provider: all[at] as ModelProvider }] as const),
        ),
      );
      seen = lists;
      seenOf = all;
    }
    return index;
  };
  return {
    find(id, among) {
      for (const [at, provider] of seenOf.entries()) {
        const model = among.includes(provider.id) ? seen[at]?.find((each) => each.id === id) : undefined;
        if (model !== undefined) {
          return { model, provider };
        }
      }
      return undefined;
    },
    current(refresh) {
      const all = providers();
      const lists = all.map((provider) => provider.models({ refresh }));
      return lists.some((list) => list instanceof Promise)
        ? Promise.all(lists).then((settled) => take(all, settled))
        : take(all, lists as (readonly ProviderModel[])[]);
    },
  };
}
