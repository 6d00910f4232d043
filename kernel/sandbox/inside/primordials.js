// What the host's ways in are made of. Everything that is used later is taken from the built-ins now, because the code
// that runs here afterwards may change every one of them.
const { apply } = Reflect;
const { parse, stringify } = JSON;
const { defineProperty, freeze, keys, getOwnPropertyDescriptor } = Object;
const { isArray } = Array;
const { now } = Date;
const { asyncIterator, iterator } = Symbol;
const [Promise_, Proxy_, TypeError_, RangeError_, Error_, String_] = [
  Promise,
  Proxy,
  TypeError,
  RangeError,
  Error,
  String,
];
const [then, slice, split, join] = [
  Promise.prototype.then,
  String.prototype.slice,
  String.prototype.split,
  Array.prototype.join,
];
const [maxPending, maxPendingText, maxTimers, timersPerSecond] = [256, 2 ** 24, 256, 1000];
const [maxItems, maxItemText, quietTurns] = [64, 65_536, 8];
