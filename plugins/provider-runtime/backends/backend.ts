import {
  byIndex,
  type Endpoint,
  EndpointConfig,
  findAddressProblem,
  toEndpoint,
  toEntries,
  toFingerprint,
} from "#kernel/upstream/endpoint.ts";

/** The stored settings of one backend. */
export const BackendConfig = EndpointConfig;

export type BackendConfig = EndpointConfig;

/** Settings by index, or as a list. */
export const BackendConfigs = byIndex(BackendConfig);

/** One configured backend, ready to be called. */
export type Backend = Endpoint;

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
  return toEntries(urls, configs).map((entry) => ({
    ...toEndpoint(entry, "local"),
    problem: findAddressProblem(entry.url),
    fingerprint: toFingerprint(entry.url, entry.key),
  }));
}
