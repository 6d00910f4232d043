/** A value, or the promise of one; for measured hot paths only, where a needless `await` costs a turn of the loop. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `use` to a value: synchronously, unless the value is a promise. */
export function mapMaybe<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
