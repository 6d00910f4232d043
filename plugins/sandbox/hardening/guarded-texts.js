// Texts, patterns, dates and numbers.
import { guards } from "./guards.js";

{
  const { most, refuse, isProxy, checkItems, checkText, guard, guardConstructor } = guards;
  const { apply, ownKeys } = Reflect;
  const { isArray } = Array;
  const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
  const patternPrototype = RegExp.prototype;
  const String_ = String;
  const longest = 2 ** 24;
  const { exec } = RegExp.prototype;
  const { match, matchAll, replace, search, split, iterator } = Symbol;

  /** Values of which a built-in would make a text behind its guard. */
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const toText = (value) => (isObject(value) ? String_(value) : value);
  const checkPattern = (value) =>
    void (typeof value === "string" && value.length > most.pattern && refuse("The pattern"));
  const marks = /\p{M}{200}/u;
  /** Marks upon one letter are put in order one by one, each past all before it. */
  const checkMarks = (text) => {
    checkText(text);
    if (typeof text === "string" && apply(exec, marks, [text]) !== null) {
      refuse("The run of marks");
    }
  };
  /** At each place of the text all of the needle may be compared. */
  const checkNeedle = (text, needle) => {
    checkText(needle);
    if (typeof needle === "string" && typeof text === "string" && text.length * needle.length > most.search) {
      refuse("The text");
    }
  };
  const guardTexts = (names, before) => {
    for (const name of names) {
      guard(String.prototype, name, before, toText);
    }
  };

  /**
   * A value with a method of its own for this, such as a regular expression, is asked for it once: the next time it may
   * answer another one. All others become texts.
   */
  const isPlain = (given, way) =>
    way !== undefined &&
    !hasOwn(given, way) &&
    hasOwn(getOwnPropertyDescriptor(patternPrototype, way) ?? {}, "value");
  const toNeedle = (given, way) => {
    if (!isObject(given)) {
      return given;
    }
    if (!isProxy(given) && getPrototypeOf(given) === patternPrototype && isPlain(given, way)) {
      return given;
    }
    const own = way && given[way];
    return typeof own === "function"
      ? { __proto__: null, [way]: (...args) => apply(own, given, args) }
      : String_(given);
  };
  const ways = {
    __proto__: null,
    indexOf: undefined,
    lastIndexOf: undefined,
    includes: match,
    startsWith: match,
    endsWith: match,
    split,
    replace,
    replaceAll: replace,
  };
  for (const name in ways) {
    guardTexts([name], (self, args) => {
      checkText(self);
      args[0] = toNeedle(args[0], ways[name]);
      checkNeedle(self, args[0]);
      return args;
    });
  }
  const patterns = { __proto__: null, match, matchAll, search };
  for (const name in patterns) {
    guardTexts([name], (self, args) => {
      checkText(self);
      args[0] = toNeedle(args[0], patterns[name]);
      checkPattern(args[0]);
      return args;
    });
  }
  guardTexts(["normalize"], checkMarks);
  guardTexts(["localeCompare"], (self, args) => {
    checkMarks(self);
    checkMarks((args[0] = toText(args[0])));
    return args;
  });
  for (const name of ["repeat", "padStart", "padEnd"]) {
    guardTexts([name], (self, args) => {
      checkText(self);
      args[0] = +args[0];
      const each = name === "repeat" && typeof self === "string" ? self.length : 1;
      if (args[0] * each > longest) {
        refuse("The text");
      }
      return args;
    });
  }
  const short = ["at", "charAt", "charCodeAt", "codePointAt", "toString", "valueOf", iterator];
  const done = [
    ...short,
    ...Object.keys(ways),
    ...Object.keys(patterns),
    "normalize",
    "localeCompare",
    "repeat",
  ];
  const rest = ownKeys(String.prototype).filter(
    (name) => !["constructor", "padStart", "padEnd", ...done].includes(name),
  );
  guardTexts(rest, (self, args) => {
    checkText(self);
    checkText(args[0]);
  });

  for (const symbol of [match, matchAll, replace, search, split]) {
    guard(patternPrototype, symbol, (_, args) => {
      checkText((args[0] = toText(args[0])));
      return args;
    });
  }
  const checkSource = (args) => {
    const source = args[0];
    checkPattern(typeof source === "object" ? source?.source : source);
  };
  // The prototype keeps its own constructor: without it the engine takes the slow way with every pattern.
  guardConstructor(globalThis, "RegExp", checkSource, false);
  guard(RegExp.prototype, "compile", (_, args) => checkSource(args));

  const names = ["encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent", "escape", "unescape"];
  for (const name of [...names, "parseInt", "parseFloat"]) {
    guard(globalThis, name, (_, args) => {
      checkText((args[0] = toText(args[0])));
      return args;
    });
  }
  guard(JSON, "parse", (_, args) => {
    checkText((args[0] = toText(args[0])));
    return args;
  });
  // A list that pretends to be long is written until the time is over.
  guard(JSON, "stringify", (_, args) => {
    for (let at = 0; at < 2; at++) {
      if (isArray(args[at]) && !isProxy(args[at])) {
        checkItems(args[at]);
      }
    }
  });
}
