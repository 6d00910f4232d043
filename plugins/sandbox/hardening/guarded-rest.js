// Dates, languages, large numbers and new code.
import { onLoop } from "../inside/environment.js";
import { guards } from "./guards.js";

{
  const { fail, checkItems, checkText, guard, guardAll, guardConstructor } = guards;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const TypeError_ = TypeError;
  const String_ = String;

  const checkEach = (args) => {
    for (let at = 0; at < args.length && at < 8; at++) {
      const value = args[at];
      checkText(value);
      if (isArray(value)) {
        checkItems(value);
      }
    }
  };
  // A guard in front of what takes microseconds is a point at which to stop.
  guardConstructor(globalThis, "Date", checkEach);
  guard(Date, "parse", (_, args) => checkEach(args));
  for (const holder of [Date.prototype, Number.prototype]) {
    for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
      guard(holder, name, (self) => checkEach([self]));
    }
  }

  for (const name of Object.getOwnPropertyNames(Intl)) {
    const { prototype } = Intl[name];
    if (prototype === undefined) {
      guard(Intl, name, (_, args) => checkEach(args));
    } else {
      guardConstructor(Intl, name, checkEach);
      guard(Intl[name], "supportedLocalesOf", (_, args) => checkEach(args));
      guardAll(prototype, (_, args) => checkEach(args));
      ["compare", "format"].forEach((getter) => guardGiven(prototype, getter));
    }
  }

  /** A getter that gives a function. */
  function guardGiven(holder, name) {
    const descriptor = getOwnPropertyDescriptor(holder, name);
    if (descriptor?.get) {
      const give = descriptor.get;
      const get = function () {
        const native = apply(give, this, []);
        return (...args) => {
          checkEach(args);
          return apply(native, undefined, args);
        };
      };
      defineProperty(holder, name, { ...descriptor, get });
    }
  }

  // The arithmetic of large numbers cannot be interrupted: there are none. Literals of a source are refused in source.ts.
  const { exec } = RegExp.prototype;
  const number = /(?<![\w$])(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)n(?![\w$])/;
  const without = (holder, name, what) => {
    const refused = function () {
      fail(new TypeError_(`${what} is not available ${onLoop ? "in a stream hook" : "in the sandbox"}.`));
    };
    const looks = { value: refused, writable: true, configurable: true };
    if (holder[name].prototype) {
      defineProperty(holder[name].prototype, "constructor", looks);
      refused.prototype = holder[name].prototype;
    }
    defineProperty(holder, name, looks);
  };
  for (const name of ["BigInt", "BigInt64Array", "BigUint64Array"]) {
    without(globalThis, name, "BigInt");
  }
  for (const name of ["getBigInt64", "getBigUint64"]) {
    without(DataView.prototype, name, "BigInt");
  }

  /** New code may hold a number as well. */
  const checkCode = (args) => {
    for (let at = 0; at < args.length; at++) {
      const text = (args[at] = typeof args[at] === "symbol" ? args[at] : String_(args[at]));
      checkText(text);
      if (typeof text === "string" && apply(exec, number, [text]) !== null) {
        fail(new TypeError_("BigInt is not available in the sandbox."));
      }
    }
    return args;
  };
  const kinds = [async () => {}, function* () {}, async function* () {}];
  const makers = kinds.map((kind) => ({ made: getPrototypeOf(kind).constructor }));
  if (onLoop) {
    without(globalThis, "eval", "eval");
    makers.forEach((maker) => without(maker, "made", "new Function"));
    without(globalThis, "Function", "new Function");
  } else {
    guard(globalThis, "eval", (_, args) => (typeof args[0] === "string" ? checkCode(args) : undefined));
    makers.forEach((maker) => guardConstructor(maker, "made", checkCode));
    guardConstructor(globalThis, "Function", checkCode);
  }
}
