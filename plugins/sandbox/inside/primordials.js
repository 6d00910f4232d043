// What the host's ways in are made of. Everything that is used later is taken from the built-ins now, because the code
// that runs here afterwards may change every one of them.
const { apply } = Reflect;
const { defineProperty, freeze, keys, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf } = Object;
const { propertyIsEnumerable } = Object.prototype;
const { isArray } = Array;
const { now } = Date;
const { asyncIterator, iterator } = Symbol;
const [Promise_, Proxy_, TypeError_, RangeError_, Error_, String_] = [
  Promise,
  NativeProxy,
  TypeError,
  RangeError,
  Error,
  String,
];
const { then } = Promise.prototype;
const [maxPending, maxPendingText, maxTimers, timersPerSecond] = [256, 2 ** 24, 256, 1000];
const [manyText, maxValues] = [2 ** 20, 2 ** 18];
const [maxItems, maxItemText, quietTurns] = [64, 65_536, 8];

/** A list that no code of an author has a part in: writing to one that inherits runs setters of what it inherits from. */
const newList = () => setPrototypeOf([], null);

/**
 * A class of records that inherit nothing. What is made for every call or batch is one: to the engine a literal without a
 * prototype is a table, twenty times as slow to make.
 */
function toRecord(record) {
  setPrototypeOf(record.prototype, null);
  return record;
}
