import { createHash } from "node:crypto";
import { z } from "zod";

const Tag = z.looseObject({ name: z.string() });

/** The stored settings that upstreams of every kind have (contract §2.3); unknown keys are kept. */
export const EndpointConfig = z.looseObject({
  enable: z.boolean().nullish(),
  key: z.string().nullish(),
  prefix_id: z.string().max(128).nullish(),
  tags: z.array(Tag).nullish(),
  model_ids: z.array(z.string().min(1)).nullish(),
  connection_type: z.string().nullish(),
  /** Who may use models that have no record (contract D.13). */
  access: z.enum(["admins", "everyone"]).nullish(),
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
  readonly access: "admins" | "everyone";
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
  return urls.map((given, index) => {
    const config = configs[index] ?? configs[given] ?? ({} as C);
    return { url: toPlainUrl(given), index, key: config.key || (keys[index] ?? ""), config };
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
    access: config.access ?? "admins",
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
