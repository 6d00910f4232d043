import { createHash } from "node:crypto";
import { z } from "zod";
import type { Audience } from "#kernel/completion/audience.ts";

const Tag = z.looseObject({ name: z.string() });

/** The stored settings that upstreams of every kind have (contract §2.3); unknown keys are kept. */
export const EndpointConfig = z.looseObject({
  enable: z.boolean().nullish(),
  key: z.string().nullish(),
  prefix_id: z.string().max(128).nullish(),
  tags: z.array(Tag).nullish(),
  model_ids: z.array(z.string().min(1)).nullish(),
  connection_type: z.string().nullish(),
  /** The accounts that may use models without a record (contract D.13). */
  access: z.enum(["admins", "everyone", "groups"]).nullish(),
  /** Ids of the groups that `access: "groups"` opens them to. */
  access_groups: z.array(z.string().min(1).max(256)).max(1000).nullish(),
});

export type EndpointConfig = z.output<typeof EndpointConfig>;

/** Settings of several upstreams by index or address, or as a list. */
export function byIndex<C>(config: z.ZodType<C>): z.ZodType<Record<string, C>> {
  return z.union([
    z.record(z.string(), config),
    z.array(config).transform((entries) => Object.fromEntries(entries.map((entry, index) => [index, entry]))),
  ]);
}

/** What every configured upstream has, whatever it speaks. */
export interface Endpoint {
  readonly index: number;
  /** Base address without a slash at the end. */
  readonly url: string;
  readonly key: string;
  readonly isEnabled: boolean;
  /** Why it cannot be used although it is enabled. */
  readonly problem: string | undefined;
  /** Put before public ids with a dot; empty for none. */
  readonly prefix: string;
  readonly tags: readonly { name: string }[];
  /** When not empty, nothing but these models is offered. */
  readonly modelIds: readonly string[];
  readonly connectionType: "external" | "local";
  readonly access: Audience;
  /** Changes with whatever the list of its models depends on. */
  readonly fingerprint: string;
}

/** One of the parallel settings' places: an address with what is set for it. */
export interface EndpointEntry<C extends EndpointConfig> {
  readonly url: string;
  readonly index: number;
  readonly key: string;
  readonly config: C;
}

/** Puts the parallel settings together; an address without a key or settings has none. */
export function toEntries<C extends EndpointConfig>(
  urls: readonly string[],
  configs: Readonly<Record<string, C>>,
  keys: readonly string[] = [],
): EndpointEntry<C>[] {
  const indexed = toIndexed(urls, configs);
  return urls.map((given, index) => {
    const config = indexed[index] ?? ({} as C);
    return { url: toPlainUrl(given), index, key: config.key || (keys[index] ?? ""), config };
  });
}

/** Settings by the index of their address, which they may also have been given by. */
export function toIndexed<C>(
  urls: readonly string[],
  configs: Readonly<Record<string, C>>,
): Record<string, C> {
  const known = urls.flatMap((url, index) => {
    const config = configs[index] ?? configs[url];
    return config === undefined ? [] : [[String(index), config] as const];
  });
  return Object.fromEntries(known);
}

/** Keys in the places that their addresses have now. One never moves to another address. */
export function moveKeys(
  keys: readonly string[],
  before: readonly string[],
  after: readonly string[],
): string[] {
  return toPlaces(before, after).map((place) => keys[place] ?? "");
}

/** Settings by the indexes that their addresses have now, with those that were given by address. */
export function moveConfigs<C>(
  configs: Readonly<Record<string, C>>,
  before: readonly string[],
  after: readonly string[],
): Record<string, C> {
  const indexed = toIndexed(before, configs);
  const moved = toPlaces(before, after).flatMap((place, index) => {
    const config = indexed[place];
    return config === undefined ? [] : [[String(index), config] as const];
  });
  const byAddress = Object.entries(configs).filter(([name]) => !/^\d+$/.test(name));
  return Object.fromEntries([...byAddress, ...moved]);
}

/**
 * Where addresses stood before, -1 for new ones; each place is taken once. What was set for a place before there was an
 * address keeps to it.
 */
function toPlaces(before: readonly string[], after: readonly string[]): number[] {
  const [known, wanted] = [before.map(toPlainUrl), after.map(toPlainUrl)];
  const isTaken = known.map((url, index) => wanted[index] === url);
  return wanted.map((url, index) => {
    if (known[index] === url) {
      return index;
    }
    const place = known.findIndex((each, at) => each === url && !isTaken[at]);
    if (place < 0) {
      return index < known.length ? -1 : index;
    }
    isTaken[place] = true;
    return place;
  });
}

/** What an entry says of its upstream, but for what depends on its kind. */
export function toEndpoint(
  { url, index, key, config }: EndpointEntry<EndpointConfig>,
  usualType: Endpoint["connectionType"],
): Omit<Endpoint, "problem" | "fingerprint"> {
  const otherType = usualType === "local" ? "external" : "local";
  return {
    index,
    url,
    key,
    isEnabled: config.enable !== false && url !== "",
    prefix: config.prefix_id?.trim() ?? "",
    tags: config.tags ?? [],
    modelIds: config.model_ids ?? [],
    connectionType: config.connection_type === otherType ? otherType : usualType,
    access: config.access === "groups" ? { groups: config.access_groups ?? [] } : (config.access ?? "admins"),
  };
}

/** Stands for facts that must not be kept themselves. */
export function toFingerprint(...facts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}

/** What is wrong with an address, in words for an admin; undefined for one that can be called. */
export function findAddressProblem(url: string): string | undefined {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? "")
    ? undefined
    : `"${url.slice(0, 200)}" is not an http or https address`;
}

/** The address as it is stored and called. */
export function toPlainUrl(url: string): string {
  return url.trim().replace(/(?<!\/)\/+$/, "");
}
