/** Numbers and choices that are the same on every run with one seed. */
export interface Random {
  /** A whole number from 0 to one less than `limit`. */
  below(limit: number): number;
  pick<T>(of: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return { below, pick: <T>(of: readonly T[]): T => of[below(of.length)] as T };
}
