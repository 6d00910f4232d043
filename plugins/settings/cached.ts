export interface CachedOptions<T> {
  /** Milliseconds that a value is used before the next look. */
  readonly keepMs: number;
  /** Reads the value that belongs to `key`. */
  read(key: string): Promise<T>;
  /** Told of a failed look; the last good value of the same key stays in use. */
  failed(error: unknown): void;
}

/** Keeps one remote value by key (an address); callers at the same time share one look, also a failed one. */
export function createCached<T>({
  keepMs,
  read,
  failed,
}: CachedOptions<T>): (key: string) => Promise<T | undefined> {
  let current: { key: string; at: number; value: Promise<T | undefined> } | undefined;
  return async (key) => {
    const last = current?.key === key ? current : undefined;
    if (last !== undefined && Date.now() - last.at < keepMs) {
      return await last.value;
    }
    const value = read(key).catch(async (error: unknown) => {
      failed(error);
      return await last?.value;
    });
    current = { key, at: Date.now(), value };
    return await value;
  };
}
