import type { Endpoint } from "./endpoint.ts";

export interface LiveOptions<T> {
  /** The settings that everything depends on; a change replaces one of them. */
  settings(): readonly unknown[];
  build(): readonly T[];
  /** Told once of each that is enabled and cannot be used. */
  leftOut(endpoint: T, problem: string): void;
}

/** The configured upstreams, built anew only when a setting was changed. */
export function createLive<T extends Endpoint>(options: LiveOptions<T>): () => readonly T[] {
  let madeOf: readonly unknown[] | undefined;
  let endpoints: readonly T[] = [];
  return () => {
    const settings = options.settings();
    if (madeOf === undefined || settings.some((setting, at) => setting !== madeOf?.[at])) {
      madeOf = settings;
      endpoints = options.build();
      for (const endpoint of endpoints) {
        if (endpoint.isEnabled && endpoint.problem !== undefined) {
          options.leftOut(endpoint, endpoint.problem);
        }
      }
    }
    return endpoints;
  };
}

/** Drops what was kept, by fingerprint, for upstreams that are not configured any more. */
export function forgetOthers(kept: Map<string, unknown>, endpoints: readonly Endpoint[]): void {
  if (kept.size > endpoints.length) {
    const wanted = new Set(endpoints.map(({ fingerprint }) => fingerprint));
    for (const fingerprint of kept.keys()) {
      if (!wanted.has(fingerprint)) {
        kept.delete(fingerprint);
      }
    }
  }
}
