// Built-ins that run in one piece, without a point at which a time limit could break them off, take only sizes that
// they handle quickly; what shares memory, waits, runs later or compiles machine code is taken away. Every guard is a
// function, and the beginning of a function is such a point: within a loop the engine looks at the time only now and
// then. An isolate holds 64 MB, so that no honest code meets the limits of a thread. Those of the event loop's own
// thread are narrower, since everybody waits for it: a call that meets one begins again on a thread, and a stream hook
// gets the error. Runs before anything else in a context.
import { onLoop, send, state } from "../inside/environment.js";
import { NativeProxy } from "../inside/natives.js";

/** The parts of which guarded-*.js makes guards. */
export const guards = { __proto__: null };
{
  const { apply, construct, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const [RangeError_, TypeError_] = [RangeError, TypeError];
  const typedLength = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), "length").get;
  const { has, add } = WeakSet.prototype;
  const proxies = new WeakSet();
  let isProxied = false;

  /** The most of each kind; a `slow` item takes a microsecond, a `search` compares so many characters. */
  const most = onLoop
    ? { items: 2 ** 16, slow: 2 ** 13, text: 2 ** 18, pattern: 2 ** 10, search: 2 ** 24, bytes: 2 ** 22 }
    : { items: 2 ** 22, slow: 2 ** 18, text: 2 ** 24, pattern: 2 ** 15, search: 2 ** 29, bytes: 2 ** 26 };

  /** Ends what is not for here. The host lets a short call begin again on a thread, whatever the code makes of it. */
  function fail(error) {
    if (onLoop) {
      send("heavy", state.current?.id ?? 0);
    }
    throw error;
  }
  const refuse = (what) => fail(new RangeError_(`${what} is too long for the sandbox.`));

  const isProxy = (value) => isProxied && apply(has, proxies, [value]);

  /** The length of a list or a text. A value that may tell another one the next time it is asked is refused. */
  function lengthOf(value) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) {
      return typeof value === "string" ? value.length : 0;
    }
    if (isProxy(value)) {
      fail(new TypeError_("Built-ins for lists take no proxy in the sandbox."));
    }
    if (isArray(value)) {
      return value.length;
    }
    if (isView(value)) {
      try {
        return apply(typedLength, value, []);
      } catch {
        return 0;
      }
    }
    for (let at = value; at !== null; at = getPrototypeOf(at)) {
      const found = getOwnPropertyDescriptor(at, "length");
      if (found !== undefined) {
        // An accessor has no value, whatever stands in the prototype of all objects.
        return hasOwn(found, "value") && typeof found.value === "number"
          ? found.value
          : fail(new TypeError_("The length of a list must be a plain number in the sandbox."));
      }
    }
    return 0;
  }
  const checkItems = (value, limit = most.items) => void (lengthOf(value) > limit && refuse("The list"));
  const checkText = (value) =>
    void (typeof value === "string" && value.length > most.text && refuse("The text"));

  /**
   * Puts `before` in front of a built-in and keeps its looks. It may answer other arguments; `toSelf` makes another
   * receiver.
   */
  function guard(holder, name, before, toSelf) {
    const descriptor = getOwnPropertyDescriptor(holder, name);
    const native = descriptor?.value;
    if (typeof native !== "function") {
      return;
    }
    const guarded = toSelf
      ? {
          method(...args) {
            const self = toSelf(this);
            return apply(native, self, before(self, args) ?? args);
          },
        }.method
      : {
          method(...args) {
            return apply(native, this, before(this, args) ?? args);
          },
        }.method;
    defineProperty(guarded, "name", { value: native.name });
    defineProperty(guarded, "length", { value: native.length });
    defineProperty(holder, name, { ...descriptor, value: guarded });
  }

  /** Guards the functions of an object, except those that `but` names. */
  function guardAll(holder, before, but = []) {
    for (const name of ownKeys(holder)) {
      if (name !== "constructor" && !but.includes(name)) {
        guard(holder, name, before);
      }
    }
  }

  /** Replaces a constructor by one that looks at its arguments first; `before` may answer others. */
  function guardConstructor(holder, name, before, isWhole = true) {
    const native = holder[name];
    const guarded = new NativeProxy(native, {
      __proto__: null,
      apply: (target, self, args) => apply(target, self, before(args) ?? args),
      construct: (target, args, newTarget) => construct(target, before(args) ?? args, newTarget),
    });
    const looks = { value: guarded, writable: true, configurable: true };
    if (isWhole && native.prototype) {
      defineProperty(native.prototype, "constructor", looks);
    }
    defineProperty(holder, name, looks);
  }

  // Proxies are known, because what they tell of themselves is worth nothing.
  const watched = (proxy) => {
    isProxied = true;
    apply(add, proxies, [proxy]);
    return proxy;
  };
  const { revocable } = Proxy;
  globalThis.Proxy = new NativeProxy(Proxy, {
    __proto__: null,
    construct: (target, args, newTarget) => watched(construct(target, args, newTarget)),
  });
  Proxy.revocable = (target, handler) => {
    const made = revocable(target, handler);
    watched(made.proxy);
    return made;
  };

  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef"]) {
    delete globalThis[name];
  }
  Object.assign(guards, {
    most,
    fail,
    refuse,
    isProxy,
    lengthOf,
    checkItems,
    checkText,
    guard,
    guardAll,
    guardConstructor,
  });
}
