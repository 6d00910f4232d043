/** The routes stand below `/api/v1/images` and, as a surface of their own, below `/images/api/v1`. */
export type Prefix = "" | "/images";

/** A path below a prefix, typed as the interface's client calls it. */
export function below<L extends `/${string}`>(prefix: Prefix, path: L): `/images${L}` {
  return `${prefix}${path}` as `/images${L}`;
}
