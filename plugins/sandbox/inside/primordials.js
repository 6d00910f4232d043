// Built-ins for the bridge. They are taken now, because the author's code that runs later may change every one of them.
import { NativeProxy } from "./natives.js";

export const { apply } = Reflect;
export const { defineProperty, freeze, keys, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } =
  Object;
export const { propertyIsEnumerable } = Object.prototype;
export const { isArray } = Array;
export const { now } = Date;
export const { asyncIterator, iterator } = Symbol;
export const [Promise_, Proxy_, TypeError_, RangeError_, Error_, String_] = [
  Promise,
  NativeProxy,
  TypeError,
  RangeError,
  Error,
  String,
];
export const { then: then_ } = Promise.prototype;
export const [maxPending, maxPendingText, maxTimers, timersPerSecond] = [256, 2 ** 24, 256, 1000];
export const [manyText, maxValues] = [2 ** 20, 2 ** 18];
export const [maxItems, maxItemText, quietTurns] = [64, 65_536, 8];

/** A list that no code of an author has a part in: writing to one that inherits runs setters of what it inherits from. */
export const newList = () => setPrototypeOf([], null);

/**
 * Makes the instances of a class inherit nothing. Values of which every call or batch needs one are made so: a literal
 * without a prototype is a table to the engine, twenty times as slow to make.
 */
export function toRecord(record) {
  setPrototypeOf(record.prototype, null);
  return record;
}
