/** The routes stand below `/api/v1/retrieval` and, as a surface of their own, below `/retrieval/api/v1`. */
export type Prefix = "" | "/retrieval";

/** A path below a prefix, typed as the interface's client calls it. */
export function below<L extends `/${string}`>(prefix: Prefix, path: L): `/retrieval${L}` {
  return `${prefix}${path}` as `/retrieval${L}`;
}
