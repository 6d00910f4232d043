import { createHash } from "node:crypto";
import { z } from "zod";

const Tag = z.looseObject({ name: z.string() });

/** The stored settings of one backend (contract §2.3); unknown keys are kept. */
export const BackendConfig = z.looseObject({
  enable: z.boolean().nullish(),
  key: z.string().nullish(),
  prefix_id: z.string().max(128).nullish(),
  tags: z.array(Tag).nullish(),
  model_ids: z.array(z.string().min(1)).nullish(),
  connection_type: z.string().nullish(),
  /** Who may use models that have no record (contract D.13). */
  access: z.enum(["admins", "everyone"]).nullish(),
});

export type BackendConfig = z.output<typeof BackendConfig>;

/** Settings by index, or as a list. */
export const BackendConfigs: z.ZodType<Record<string, BackendConfig>> = z.union([
  z.record(z.string(), BackendConfig),
  z
    .array(BackendConfig)
    .transform((entries) => Object.fromEntries(entries.map((entry, index) => [index, entry]))),
]);

/** One configured backend, ready to be called. */
export interface Backend {
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
  /** When not empty, nothing but these of its models is offered. */
  readonly modelIds: readonly string[];
  readonly connectionType: "external" | "local";
  readonly access: "admins" | "everyone";
  /** Changes with whatever the list of its models depends on. */
  readonly fingerprint: string;
}

/** A backend that holds a model. */
export interface Holder {
  readonly backend: Backend;
  /** The id without the backend's prefix, as the backend knows it. */
  readonly upstreamId: string;
}

/** Builds the backends from the two parallel settings; a URL without settings gets defaults. */
export function toBackends(
  urls: readonly string[],
  configs: Readonly<Record<string, BackendConfig>>,
): Backend[] {
  return urls.map((url, index) => toBackend({ url, index, config: configs[index] ?? configs[url] ?? {} }));
}

/** What is wrong with a backend, in words for an admin; undefined when it can be used. */
export function findProblem(url: string): string | undefined {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? "")
    ? undefined
    : `"${url.slice(0, 200)}" is not an http or https address`;
}

/** The address as it is stored and called. */
export function toPlainUrl(url: string): string {
  return url.trim().replace(/(?<!\/)\/+$/, "");
}

function toBackend({
  url: given,
  index,
  config,
}: {
  url: string;
  index: number;
  config: BackendConfig;
}): Backend {
  const url = toPlainUrl(given);
  const key = config.key ?? "";
  return {
    index,
    url,
    key,
    isEnabled: config.enable !== false && url !== "",
    problem: findProblem(url),
    prefix: config.prefix_id?.trim() ?? "",
    tags: config.tags ?? [],
    modelIds: config.model_ids ?? [],
    connectionType: config.connection_type === "external" ? "external" : "local",
    access: config.access ?? "admins",
    fingerprint: createHash("sha256")
      .update(JSON.stringify([url, key]))
      .digest("hex"),
  };
}
