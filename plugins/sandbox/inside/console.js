// The console: lines that the host keeps for the author.
import { send, state } from "./environment.js";
import { stringify } from "./natives.js";
import { now, String_ } from "./primordials.js";
import { cut, resolved } from "./values.js";

const [lineLength, linesPerSecond] = [2000, 200];
let second = 0;
let lines = 0;

export function write(level, args, from = 0) {
  const at = now();
  if (at - second >= 1000) {
    second = at;
    lines = 0;
  }
  if (++lines > linesPerSecond) {
    return;
  }
  let text = "";
  for (let i = from; i < args.length && text.length < lineLength; i++) {
    text += (i > from ? " " : "") + cut(toShown(args[i]), lineLength);
  }
  send("log", state.current ? state.current.id : 0, cut(text, lineLength), level);
}

function toShown(value) {
  try {
    if (typeof value !== "object" || value === null) {
      return String_(value);
    }
    return "stack" in value ? String_(value.stack) : stringify(value);
  } catch {
    return "[not to be shown]";
  }
}

const levels = {
  __proto__: null,
  debug: "debug",
  info: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
};

/** `host.log(level, text)`, or `host.log(text)`. */
export function log(...args) {
  const level = args.length > 1 && typeof args[0] === "string" ? levels[args[0]] : undefined;
  write(level ?? "info", args, level ? 1 : 0);
  return resolved();
}

globalThis.console = { __proto__: null };
const names = ["debug", "log", "info", "warn", "error", "trace", "dir"];
for (let at = 0; at < names.length; at++) {
  const level = levels[names[at]] ?? "info";
  console[names[at]] = (...args) => write(level, args);
}
