/** A value, or the promise of one where something has to be waited for. */
export type AtOnce<T> = T | Promise<T>;

/** Uses a value as soon as it is there: without a promise where it is there already. */
export function whenThere<T, U>(value: AtOnce<T>, use: (value: T) => AtOnce<U>): AtOnce<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
