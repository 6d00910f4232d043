import { z } from "zod";
import {
  byIndex,
  type Endpoint,
  EndpointConfig,
  type EndpointEntry,
  findAddressProblem,
  toEndpoint,
  toEntries,
  toFingerprint,
} from "#kernel/upstream/endpoint.ts";

/** The stored settings of one connection (contract §2.3); unknown keys are kept. */
export const ConnectionConfig = EndpointConfig.extend({
  provider: z.string().nullish(),
  azure: z.boolean().nullish(),
  api_version: z.string().nullish(),
  api_type: z.string().nullish(),
  auth_type: z.string().nullish(),
  headers: z.union([z.record(z.string(), z.string()), z.literal("")]).nullish(),
  passthrough_params: z.string().nullish(),
  extra_params: z.record(z.string(), z.unknown()).nullish(),
});

export type ConnectionConfig = z.output<typeof ConnectionConfig>;

/** Settings by index, or as a list. */
export const ConnectionConfigs = byIndex(ConnectionConfig);

/** One configured upstream, ready to be called. Its `modelIds`, when there are any, are offered without being listed. */
export interface Connection extends Endpoint {
  readonly provider: string;
  /** What the upstream speaks: the common chat format, or the vendor's message format (contract D.11). */
  readonly format: "common" | "message";
  /** Which of its formats the upstream is asked in when it speaks the common one (contract §2.3). */
  readonly apiType: "chat" | "responses";
  /** Its settings say that it has no other, so nothing else is tried. */
  readonly speaksChatOnly: boolean;
  readonly isAzure: boolean;
  readonly apiVersion: string;
  /**
   * How the platform shows who asks: the connection's key, nothing, the caller's own credential, a token of Entra, or
   * the token of the caller's sign-in through a provider.
   */
  readonly auth: "bearer" | "none" | "session" | "entra" | "provider";
  /** Header templates (contract §5.4). */
  readonly headers: readonly (readonly [name: string, template: string])[];
  readonly extraParams: Readonly<Record<string, unknown>>;
  /** Parameters that vendor-format requests may pass on; `*` for all. */
  readonly passthroughParams: readonly string[] | "*";
  /** True on the vendor's own host, whose list holds models that do not chat. */
  readonly isDefaultHost: boolean;
}

/** Builds the connections from the three parallel settings; a URL without a key or settings gets defaults. */
export function toConnections(
  urls: readonly string[],
  keys: readonly string[],
  configs: Readonly<Record<string, ConnectionConfig>>,
): Connection[] {
  return toEntries(urls, configs, keys).map(toConnection);
}

/** What is wrong with a connection, in words for an admin; undefined when it can be used. */
export function findProblem(url: string, config: ConnectionConfig): string | undefined {
  const problem = findAddressProblem(url);
  if (problem !== undefined) {
    return problem;
  }
  if (!["", "chat", "responses"].includes(config.api_type ?? "")) {
    return `the api_type "${config.api_type}" is not supported; use responses, or leave it empty for chat completions`;
  }
  if (!Object.hasOwn(authTypes, config.auth_type ?? "")) {
    return `the auth_type "${config.auth_type}" is not supported; use ${Object.keys(authTypes).slice(1).join(", ")}, or a header of your own`;
  }
  const name = Object.keys(config.headers || {}).find((header) => !isOwnHeader(header));
  return name === undefined
    ? undefined
    : `"${name.slice(0, 100)}" is not a header name that a connection may set`;
}

function toConnection(entry: EndpointEntry<ConnectionConfig>): Connection {
  const { config, key, url: address } = entry;
  const format = toFormat(address, config);
  // Clients of the vendor's format add the version themselves, so its base addresses come with and without it.
  const url = format === "message" ? address.replace(/\/v1$/, "") : address;
  const auth = authTypes[config.auth_type ?? ""] ?? "none";
  const headers = Object.entries(config.headers || {}).filter(([name]) => isOwnHeader(name));
  const isAzure = config.azure === true || config.provider === "azure";
  return {
    ...toEndpoint(entry, "external"),
    url,
    problem: findProblem(address, config),
    provider: format === "message" ? vendorProvider : (config.provider ?? ""),
    format,
    apiType: config.api_type === "responses" && format === "common" ? "responses" : "chat",
    speaksChatOnly: config.api_type === "chat" || format === "message",
    isAzure,
    apiVersion: config.api_version ?? "",
    auth,
    headers,
    extraParams: config.extra_params ?? {},
    passthroughParams: toNames(config.passthrough_params ?? ""),
    isDefaultHost: URL.parse(url)?.hostname === "api.openai.com",
    fingerprint: toFingerprint(url, key, auth, headers, isAzure, config.api_version, format),
  };
}

/** `auth_type` of the settings. */
const authTypes: Readonly<Record<string, Connection["auth"]>> = {
  "": "bearer",
  bearer: "bearer",
  none: "none",
  session: "session",
  system_oauth: "provider",
  azure_ad: "entra",
  microsoft_entra_id: "entra",
};

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
