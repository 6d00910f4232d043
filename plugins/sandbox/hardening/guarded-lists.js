// Lists, buffers and objects with many members.
import { guards } from "./guards.js";

{
  const { most, refuse, isProxy, lengthOf, checkItems, checkText, guard, guardAll, guardConstructor } =
    guards;
  const Object_ = Object;
  const { getPrototypeOf } = Object;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { iterator } = Symbol;
  const typed = getPrototypeOf(Uint8Array);
  const cheap = ["push", "pop", "at", "keys", "values", "entries", iterator];
  // A built-in that compares would not look at the time.
  const toCompare = (compare) => (typeof compare === "function" ? (a, b) => compare(a, b) : compare);

  guardAll(Array.prototype, (self) => checkItems(self), [
    ...cheap,
    "concat",
    "sort",
    "toSorted",
    "toLocaleString",
  ]);
  guard(Array.prototype, "toLocaleString", (self) => checkItems(self, most.slow));
  guard(Array.prototype, "concat", (self, args) => {
    checkItems(self);
    for (let at = 0; at < args.length; at++) {
      checkItems(args[at]);
    }
  });
  for (const name of ["sort", "toSorted"]) {
    guard(Array.prototype, name, (self, args) => {
      const compare = args[0];
      // Without a way to compare, each item is made a text again and again.
      checkItems(self, compare === undefined ? 2 * most.slow : most.items);
      return [toCompare(compare)];
    });
  }
  guard(Array, "from", (_, args) => checkItems(args[0]));
  guard(Array, "fromAsync", (_, args) => checkItems(args[0]));
  guard(Reflect, "apply", (_, args) => checkItems(args[2]));
  guard(Reflect, "construct", (_, args) => checkItems(args[1], most.slow));
  guard(Function.prototype, "apply", (_, args) => checkItems(args[1]));
  guard(String, "raw", (_, args) => checkItems(args[0]?.raw));

  const slow = ["sort", "toSorted", "join", "toString", "toLocaleString"];
  guardAll(
    typed.prototype,
    (self, args) => {
      checkItems(self, most.bytes);
      checkItems(args[0], most.bytes);
    },
    [...cheap, ...slow, "subarray"],
  );
  for (const name of slow) {
    guard(typed.prototype, name, (self, args) => {
      const compare = args[0];
      checkItems(self, 8 * most.slow);
      return [name === "join" ? compare : toCompare(compare)];
    });
  }
  guard(typed, "from", (_, args) => checkItems(args[0]));
  const checkBytes = (length) => void (length > most.bytes && refuse("The buffer"));
  for (const size of [
    "Int8",
    "Uint8",
    "Uint8Clamped",
    "Int16",
    "Uint16",
    "Int32",
    "Uint32",
    "Float16",
    "Float32",
    "Float64",
  ]) {
    guardConstructor(globalThis, `${size}Array`, (args) =>
      checkBytes(typeof args[0] === "object" ? lengthOf(args[0]) : args[0]),
    );
  }
  // Buffers that grow escape the count of the isolate's memory.
  guardConstructor(globalThis, "ArrayBuffer", (args) => (checkBytes(args[0]), [args[0]]));
  guardAll(ArrayBuffer.prototype, (_, args) => checkBytes(args[0]), ["slice"]);

  // Here it is the members that count, and a proxy may well be asked for them.
  const checkEither = (value) => {
    if (typeof value === "string") {
      checkText(value);
    } else if (!isProxy(value) && (isArray(value) || isView(value))) {
      checkItems(value);
    }
  };
  guardAll(
    Object,
    (_, args) => {
      for (let at = 0; at < args.length; at++) {
        checkEither(args[at]);
      }
    },
    [
      "is",
      "hasOwn",
      "getPrototypeOf",
      "isExtensible",
      "defineProperty",
      "getOwnPropertyDescriptor",
      "prototype",
    ],
  );
  guard(Reflect, "ownKeys", (_, args) => checkEither(args[0]));

  const checkMany = (value) =>
    void ((value?.size ?? 0) > most.items ? refuse("The list") : checkEither(value));
  for (const name of ["Map", "Set"]) {
    guardConstructor(globalThis, name, (args) => checkMany(args[0]));
  }
  const own = ["has", "add", "delete", "clear", "keys", "values", "entries", iterator, "forEach"];
  guardAll(Set.prototype, (self, args) => (checkMany(self), checkMany(args[0])), own);

  // Left to themselves these take from an iterator without looking at the time; a loop looks at it.
  const { apply } = Reflect;
  const { setPrototypeOf } = Object;
  const TypeError_ = TypeError;
  for (const name of ["all", "allSettled", "any", "race"]) {
    guard(Promise, name, (_, args) => {
      const source = args[0];
      const from = source?.[iterator];
      if (typeof from !== "function") {
        return undefined;
      }
      const items = setPrototypeOf([], null);
      let failed;
      try {
        const inner = apply(from, source, []);
        const { next } = inner;
        for (;;) {
          const step = apply(next, inner, []);
          if (Object_(step) !== step) {
            throw new TypeError_("What an iterator answers must be an object.");
          }
          if (step.done) {
            break;
          }
          if (items.length === most.items) {
            refuse("The list");
          }
          items[items.length] = step.value;
        }
      } catch (error) {
        failed = { error };
      }
      let at = 0;
      const next = () => {
        if (failed) {
          throw failed.error;
        }
        return at < items.length ? { done: false, value: items[at++] } : { done: true, value: undefined };
      };
      return [{ __proto__: null, [iterator]: () => ({ next }) }];
    });
  }
}
