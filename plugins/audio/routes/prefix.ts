/** The routes stand below `/api/v1/audio` and, as a surface of their own, below `/audio/api/v1`. */
export type Prefix = "" | "/audio";

/** A path below a prefix, typed as the interface's client calls it. */
export function below<L extends `/${string}`>(prefix: Prefix, path: L): `/audio${L}` {
  return `${prefix}${path}` as `/audio${L}`;
}
