import { toCommonAudience } from "#kernel/completion/audience.ts";
import type { ProviderModel } from "#kernel/completion/provider.ts";
import type { Backend, Holder } from "./backend.ts";
import type { ListedModel, RuntimeList } from "./fetch-list.ts";

/** The models of all backends together. */
export interface AvailableModels {
  readonly models: readonly ProviderModel[];
  /** By public id; in the order of backends. */
  readonly holders: ReadonlyMap<string, readonly Holder[]>;
  /** Items of GET api/tags, by public id. */
  readonly tags: ReadonlyMap<string, TagItem>;
}

/** A model as GET api/tags shows it (contract §2.3): the backend's own facts and where it is. */
export interface TagItem extends Record<string, unknown> {
  readonly name: string;
  readonly model: string;
  readonly urls: readonly number[];
}

export interface BackendList {
  readonly backend: Backend;
  /** Undefined while the backend's list has not arrived. */
  readonly list: RuntimeList | undefined;
}

/** Merges the lists of all backends by name; of facts that differ the first backend's are shown. */
export function toAvailableModels(entries: readonly BackendList[]): AvailableModels {
  const holders = new Map<string, Holder[]>();
  const listed = new Map<string, ListedModel[]>();
  for (const { backend, list } of entries) {
    for (const model of list?.models ?? []) {
      if (backend.modelIds.length > 0 && !backend.modelIds.includes(model.id)) {
        continue;
      }
      const id = backend.prefix === "" ? model.id : `${backend.prefix}.${model.id}`;
      append(holders, id, { backend, upstreamId: model.id });
      append(listed, id, model);
    }
  }
  const ids = [...holders.keys()];
  return {
    holders,
    models: ids.map((id) => toProviderModel(id, holders.get(id) ?? [], listed.get(id) ?? [])),
    tags: new Map(ids.map((id) => [id, toTagItem(id, holders.get(id) ?? [], listed.get(id) ?? [])])),
  };
}

function toProviderModel(
  id: string,
  holders: readonly Holder[],
  listed: readonly ListedModel[],
): ProviderModel {
  const [first] = listed;
  const modified = Date.parse(String(first?.item["modified_at"] ?? ""));
  return {
    id,
    name: id,
    ownedBy: "ollama",
    created: Number.isNaN(modified) ? 0 : Math.trunc(modified / 1000),
    connectionType: toType(holders),
    tags: toTags(holders),
    // One backend that is for administrators closes the model: which backend answers is left to chance.
    access: holders.map(({ backend }) => backend.access).reduce(toCommonAudience, "everyone"),
    item: {
      urls: holders.map(({ backend }) => backend.index),
      loaded: listed.some(({ expiresAt }) => expiresAt !== undefined),
      ollama: first?.item ?? {},
    },
  };
}

function toTagItem(id: string, holders: readonly Holder[], listed: readonly ListedModel[]): TagItem {
  const expiry = listed.map(({ expiresAt }) => expiresAt).find((time) => time !== undefined);
  return {
    ...listed[0]?.item,
    name: id,
    model: id,
    urls: holders.map(({ backend }) => backend.index),
    connection_type: toType(holders),
    tags: toTags(holders),
    ...(expiry !== undefined && { expires_at: expiry }),
  };
}

function toType(holders: readonly Holder[]): "external" | "local" {
  return holders[0]?.backend.connectionType ?? "local";
}

function toTags(holders: readonly Holder[]): { name: string }[] {
  const tags = holders.flatMap(({ backend }) => backend.tags);
  return [...new Map(tags.map((tag) => [tag.name, tag])).values()];
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) {
    list.push(value);
  } else {
    lists.set(key, [value]);
  }
}
