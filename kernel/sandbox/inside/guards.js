// Built-ins that run in one piece, without a point at which a time limit could break them off, take only sizes that
// they handle quickly; what shares memory, waits or compiles machine code is taken away. An isolate holds 64 MB, so
// that no honest code meets these limits. Runs before anything else in a context.
{
  const { apply, construct, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const [maxItems, maxText, maxDigits, maxBytes] = [2 ** 22, 2 ** 24, 50_000, 2 ** 26];
  const RangeError_ = RangeError;

  const refuse = (what) => {
    throw new RangeError_(`${what} is too long for the sandbox.`);
  };
  const sizeOf = (value) =>
    typeof value === "string" || (typeof value === "object" && value !== null) ? value.length : 0;
  const checkItems = (value) => void (sizeOf(value) > maxItems && refuse("The list"));
  const checkText = (value) =>
    void (typeof value === "string" && value.length > maxText && refuse("The text"));
  const checkEither = (value) => (typeof value === "string" ? checkText(value) : checkItems(value));

  /** Puts a check of receiver and arguments in front of a built-in and keeps its looks. */
  function guard(holder, name, check) {
    const descriptor = getOwnPropertyDescriptor(holder, name);
    const native = descriptor?.value;
    if (typeof native !== "function") {
      return;
    }
    const guarded = {
      method(...args) {
        check(this, args);
        return apply(native, this, args);
      },
    }.method;
    defineProperty(guarded, "name", { value: native.name });
    defineProperty(guarded, "length", { value: native.length });
    defineProperty(holder, name, { ...descriptor, value: guarded });
  }

  const quick = ["constructor", "push", "pop", "at", "keys", "values", "entries"];
  for (const name of ownKeys(Array.prototype)) {
    if (typeof name === "string" && !quick.includes(name)) {
      guard(Array.prototype, name, (self) => checkItems(self));
    }
  }
  guard(Array, "from", (_, [source]) => checkItems(source));
  guard(Reflect, "apply", (_, args) => checkItems(args[2]));
  guard(Function.prototype, "apply", (_, args) => checkItems(args[1]));

  for (const name of ownKeys(String.prototype)) {
    if (
      typeof name === "string" &&
      !["constructor", "at", "charAt", "charCodeAt", "codePointAt"].includes(name)
    ) {
      guard(String.prototype, name, (self, args) => {
        checkText(self);
        checkText(args[0]);
      });
    }
  }
  for (const name of ["repeat", "padStart", "padEnd"]) {
    guard(String.prototype, name, (self, [count]) => {
      if (typeof self === "string" && count * (name === "repeat" ? self.length : 1) > maxText) {
        refuse("The text");
      }
    });
  }
  guard(String, "raw", (_, [strings]) => checkItems(strings?.raw));
  for (const symbol of [Symbol.match, Symbol.matchAll, Symbol.replace, Symbol.search, Symbol.split]) {
    guard(RegExp.prototype, symbol, (_, [text]) => checkText(text));
  }
  for (const name of [
    "encodeURI",
    "encodeURIComponent",
    "decodeURI",
    "decodeURIComponent",
    "escape",
    "unescape",
  ]) {
    guard(globalThis, name, (_, [text]) => checkText(text));
  }

  const lists = [
    "keys",
    "values",
    "entries",
    "getOwnPropertyNames",
    "getOwnPropertyDescriptors",
    "fromEntries",
  ];
  for (const name of lists) {
    guard(Object, name, (_, [value]) => checkEither(value));
  }
  guard(Object, "assign", (_, args) => {
    for (let at = 1; at < args.length; at++) {
      checkEither(args[at]);
    }
  });
  guard(Reflect, "ownKeys", (_, [value]) => checkEither(value));
  guard(JSON, "parse", (_, [text]) => checkText(text));
  guard(JSON, "stringify", (_, [value, replacer]) => {
    checkEither(value);
    checkItems(replacer);
  });

  /** Replaces a global constructor by one that looks at its arguments first. */
  function guardConstructor(name, toArguments) {
    const native = globalThis[name];
    const guarded = new Proxy(native, {
      __proto__: null,
      apply: (target, self, args) => apply(target, self, toArguments(args)),
      construct: (target, args, newTarget) => construct(target, toArguments(args), newTarget),
    });
    defineProperty(native.prototype, "constructor", { value: guarded, writable: true, configurable: true });
    defineProperty(globalThis, name, { value: guarded, writable: true, configurable: true });
  }
  guardConstructor("BigInt", (args) => {
    if (typeof args[0] === "string" && args[0].length > maxDigits) {
      refuse("The number");
    }
    return args;
  });
  // Buffers that grow escape the count of the isolate's memory.
  guardConstructor("ArrayBuffer", ([length]) => [length > maxBytes ? refuse("The buffer") : length]);

  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics"]) {
    delete globalThis[name];
  }
}
