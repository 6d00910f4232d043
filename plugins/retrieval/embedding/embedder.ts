/** Turns texts into vectors of the length 1, one for each. */
export interface Embedder {
  /**
   * Rejects with an AppError whose detail says why. `isQuestion` is embedded before texts that wait, since somebody
   * waits for its answer.
   */
  embed(
    texts: readonly string[],
    how: { readonly isQuestion: boolean; readonly signal: AbortSignal },
  ): Promise<Float32Array[]>;
}

/** The model that made the vectors of an index. */
export interface EmbeddingModel {
  readonly engine: string;
  readonly model: string;
}

/** Scales a vector to the length 1; one of nothing but zeros stays. */
export function normalize(vector: ArrayLike<number>): Float32Array {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) {
    sum += (vector[at] as number) ** 2;
  }
  const length = Math.sqrt(sum);
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0));
}
