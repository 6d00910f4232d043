interface Configured {
  readonly isEnabled: boolean;
  /** Why it cannot be called, as administrators read it. */
  readonly problem?: string | undefined;
}

const none: readonly never[] = [];

/** Those of the configured upstreams that can be called; the same array until a setting changes. */
export function createUsable<T extends Configured>(
  config: { readonly enabled: boolean },
  live: () => readonly T[],
): () => readonly T[] {
  let madeOf: readonly T[] = none;
  let usable: readonly T[] = none;
  return () => {
    const all = config.enabled ? live() : none;
    if (all !== madeOf) {
      madeOf = all;
      usable = all.filter((each) => each.isEnabled && !each.problem);
    }
    return usable;
  };
}
