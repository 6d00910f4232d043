// Values as they cross: texts and numbers, nothing else.
import { indexOf, includes, parse, slice, stringify } from "./natives.js";
import {
  apply,
  manyText,
  maxValues,
  Promise_,
  RangeError_,
  String_,
  then_,
  TypeError_,
} from "./primordials.js";

export const cut = (text, length) => apply(slice, text, [0, length]);
export const resolved = (value) => new Promise_((resolve) => resolve(value));
export const rejected = (error) => new Promise_((_, reject) => reject(error));
export const isObject = (value) => typeof value === "object" && value !== null;

/** Runs `done` or `failed` once `value`, a promise or not, is settled: at once where there is nothing to wait for. */
export function settle(value, done, failed) {
  if (isThenable(value)) {
    apply(then_, resolved(value), [done, failed]);
  } else {
    done(value);
  }
}

/** Reading the property may run the author's code; one that throws is left to the promise. */
function isThenable(value) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    return false;
  }
  try {
    return typeof value.then === "function";
  } catch {
    return true;
  }
}

/** Describes anything that was thrown, as JSON. Never throws. */
export function toReport(thrown) {
  const report = { __proto__: null, message: "The code threw something that cannot be shown.", stack: "" };
  try {
    const isError = typeof thrown === "object" && thrown !== null && "message" in thrown;
    report.message = cut(String_(isError ? thrown.message : thrown), 4000);
    report.stack = isError ? cut(String_(thrown.stack), 8000) : "";
  } catch {}
  return stringify(report);
}

/** The JSON of a value; undefined for nothing. A value that is not JSON is an error rather than silently lost. */
export function toText(value) {
  if (value === undefined) {
    return undefined;
  }
  const text = toJson(value);
  if (text === undefined) {
    throw new TypeError_(`A ${typeof value} cannot be handed over; only JSON values can.`);
  }
  return toPlain(text);
}

function toJson(value) {
  try {
    return stringify(value);
  } catch (error) {
    // Writing it is what runs out of stack, unless code of the value itself does.
    throw isObject(error) && error.message === "Maximum call stack size exceeded"
      ? new RangeError_("The value is nested too deep to be handed over.")
      : error;
  }
}

// The host reads a text on its event loop: what would take it long is done or refused here.
const prototypeKey = '"__proto__":';
const withoutPrototype = (key, value) => (key === "__proto__" ? undefined : value);

/** The same JSON without keys that would become prototypes. */
function toPlain(text) {
  if (text.length > manyText) {
    let count = 0;
    for (let at = -1; (at = apply(indexOf, text, [",", at + 1])) >= 0;) {
      if (++count > maxValues) {
        throw new RangeError_(`More than ${maxValues} values cannot be handed over at once.`);
      }
    }
  }
  if (!apply(includes, text, [prototypeKey])) {
    return text;
  }
  const plain = stringify(parse(text, withoutPrototype));
  if (apply(includes, plain, [prototypeKey])) {
    throw new TypeError_("A value with such keys cannot be handed over.");
  }
  return plain;
}
