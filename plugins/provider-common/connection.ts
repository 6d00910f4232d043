import { createHash } from "node:crypto";
import { z } from "zod";

const Tag = z.looseObject({ name: z.string() });

/** The stored settings of one connection (contract §2.3); unknown keys are kept. */
export const ConnectionConfig = z.looseObject({
  enable: z.boolean().nullish(),
  key: z.string().nullish(),
  prefix_id: z.string().max(128).nullish(),
  tags: z.array(Tag).nullish(),
  model_ids: z.array(z.string().min(1)).nullish(),
  connection_type: z.string().nullish(),
  provider: z.string().nullish(),
  azure: z.boolean().nullish(),
  api_version: z.string().nullish(),
  api_type: z.string().nullish(),
  auth_type: z.string().nullish(),
  headers: z.union([z.record(z.string(), z.string()), z.literal("")]).nullish(),
  passthrough_params: z.string().nullish(),
  extra_params: z.record(z.string(), z.unknown()).nullish(),
  /** Who may use models that have no record (contract D.13). */
  access: z.enum(["admins", "everyone"]).nullish(),
});

export type ConnectionConfig = z.output<typeof ConnectionConfig>;

/** Settings by index, or as a list. */
export const ConnectionConfigs: z.ZodType<Record<string, ConnectionConfig>> = z.union([
  z.record(z.string(), ConnectionConfig),
  z
    .array(ConnectionConfig)
    .transform((entries) => Object.fromEntries(entries.map((entry, index) => [index, entry]))),
]);

/** One configured upstream, ready to be called. */
export interface Connection {
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
  /** When not empty, exactly these are offered and nothing is listed. */
  readonly modelIds: readonly string[];
  readonly connectionType: "external" | "local";
  readonly provider: string;
  /** What the upstream speaks: the common chat format, or the vendor's message format (contract D.11). */
  readonly format: "common" | "message";
  /** Which of its formats the upstream is asked in when it speaks the common one (contract §2.3). */
  readonly apiType: "chat" | "responses";
  /** Its settings say that it has no other, so nothing else is tried. */
  readonly speaksChatOnly: boolean;
  readonly isAzure: boolean;
  readonly apiVersion: string;
  readonly auth: "bearer" | "none";
  /** Header templates (contract §5.4). */
  readonly headers: readonly (readonly [name: string, template: string])[];
  readonly extraParams: Readonly<Record<string, unknown>>;
  readonly access: "admins" | "everyone";
  /** Parameters that vendor-format requests may pass on; `*` for all. */
  readonly passthroughParams: readonly string[] | "*";
  /** True on the vendor's own host, whose list holds models that do not chat. */
  readonly isDefaultHost: boolean;
  /** Changes with whatever the upstream's list of models depends on. */
  readonly fingerprint: string;
}

/** Builds the connections from the three parallel settings; a URL without a key or settings gets defaults. */
export function toConnections(
  urls: readonly string[],
  keys: readonly string[],
  configs: Readonly<Record<string, ConnectionConfig>>,
): Connection[] {
  return urls.map((url, index) =>
    toConnection({ url, index, key: keys[index] ?? "", config: configs[index] ?? configs[url] ?? {} }),
  );
}

/** What is wrong with a connection, in words for an admin; undefined when it can be used. */
export function findProblem(url: string, config: ConnectionConfig): string | undefined {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    return `"${url.slice(0, 200)}" is not an http or https address`;
  }
  if (!["", "chat", "responses"].includes(config.api_type ?? "")) {
    return `the api_type "${config.api_type}" is not supported; use responses, or leave it empty for chat completions`;
  }
  if (!["", "none", "bearer"].includes(config.auth_type ?? "")) {
    return `the auth_type "${config.auth_type}" is not supported; use bearer or none, or a header of your own`;
  }
  const name = Object.keys(config.headers || {}).find((header) => !isOwnHeader(header));
  return name === undefined
    ? undefined
    : `"${name.slice(0, 100)}" is not a header name that a connection may set`;
}

interface Entry {
  readonly url: string;
  readonly index: number;
  readonly key: string;
  readonly config: ConnectionConfig;
}

function toConnection({ url: given, index, key: listed, config }: Entry): Connection {
  const address = given.trim().replace(/(?<!\/)\/+$/, "");
  const problem = findProblem(address, config);
  const format = toFormat(address, config);
  // Clients of the vendor's format add the version themselves, so its base addresses come with and without it.
  const url = format === "message" ? address.replace(/\/v1$/, "") : address;
  const auth = config.auth_type === "none" ? "none" : "bearer";
  const key = config.key || listed;
  const headers = Object.entries(config.headers || {}).filter(([name]) => isOwnHeader(name));
  const isAzure = config.azure === true || config.provider === "azure";
  return {
    index,
    url,
    key,
    isEnabled: config.enable !== false && url !== "",
    problem,
    prefix: config.prefix_id?.trim() ?? "",
    tags: config.tags ?? [],
    modelIds: config.model_ids ?? [],
    connectionType: config.connection_type === "local" ? "local" : "external",
    provider: format === "message" ? vendorProvider : (config.provider ?? ""),
    format,
    apiType: config.api_type === "responses" && format === "common" ? "responses" : "chat",
    speaksChatOnly: config.api_type === "chat" || format === "message",
    isAzure,
    apiVersion: config.api_version ?? "",
    auth,
    headers,
    extraParams: config.extra_params ?? {},
    access: config.access ?? "admins",
    passthroughParams: toNames(config.passthrough_params ?? ""),
    isDefaultHost: URL.parse(url)?.hostname === "api.openai.com",
    fingerprint: createHash("sha256")
      .update(JSON.stringify([url, key, auth, headers, isAzure, config.api_version, format]))
      .digest("hex"),
  };
}

/** The `provider` setting of upstreams that speak the vendor's message format. */
const vendorProvider = "anthropic";

function toFormat(url: string, { provider }: ConnectionConfig): Connection["format"] {
  return provider === vendorProvider || URL.parse(url)?.hostname === "api.anthropic.com"
    ? "message"
    : "common";
}

function toNames(list: string): readonly string[] | "*" {
  const names = list.split(",").map((name) => name.trim());
  return names.includes("*") ? "*" : names.filter((name) => name !== "");
}

/** Headers of the transport itself stay the client's. */
const reserved = new Set([
  "host",
  "content-length",
  "content-type",
  "transfer-encoding",
  "connection",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "accept-encoding",
]);

function isOwnHeader(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !reserved.has(name.toLowerCase());
}
