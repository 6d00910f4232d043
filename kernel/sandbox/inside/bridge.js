// Runs first in every context, after guards.js and globals.js, as the body of a function: `send` posts a message to the
// host, what is returned are the host's ways in. Only texts and numbers cross. Everything that is used later is taken
// from the built-ins now, because the code that runs here afterwards may change every one of them.
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
const [then, slice, join] = [Promise.prototype.then, String.prototype.slice, Array.prototype.join];
const [maxPending, maxTimers, maxItems, maxItemText, quietTurns] = [256, 256, 64, 65_536, 8];

let module;
/** The call whose code runs: each way in runs until nothing is left to do, so that one call runs at a time. */
let current;
const calls = { __proto__: null };
let serial = 0;

const cut = (text, length) => apply(slice, text, [0, length]);
const resolved = (value) => new Promise_((resolve) => resolve(value));
const rejected = (error) => new Promise_((_, reject) => reject(error));

/** Runs `done` or `failed` when `value`, a promise or not, is settled. */
function settle(value, done, failed) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    done(value);
  } else {
    apply(then, resolved(value), [done, failed]);
  }
}

/** Tells of anything that was thrown; itself it never throws. */
function toReport(thrown) {
  const report = { __proto__: null, message: "The code threw something that cannot be shown.", stack: "" };
  try {
    const isError = typeof thrown === "object" && thrown !== null && "message" in thrown;
    report.message = cut(String_(isError ? thrown.message : thrown), 4000);
    report.stack = isError ? cut(String_(thrown.stack), 8000) : "";
  } catch {}
  return stringify(report);
}

/** The JSON of a value; undefined for nothing. What JSON has no word for is an error rather than silently lost. */
function toText(value) {
  if (value === undefined) {
    return undefined;
  }
  const text = stringify(value);
  if (text === undefined) {
    throw new TypeError_(`A ${typeof value} cannot be handed over; only JSON values can.`);
  }
  return text;
}

/** Tells the host how the call ended, once. */
function leave(call, kind, text) {
  if (call.live) {
    close(call);
    send(kind, call.id, text);
  }
}

const fail = (call, thrown) => leave(call, "fail", toReport(thrown));

function finish(call, value) {
  let text;
  try {
    text = toText(value);
  } catch (error) {
    leave(call, "value", toReport(error));
    return;
  }
  leave(call, "done", text);
}

/** From here on the call's host functions answer nothing and its timers do not fire. */
function close(call) {
  call.live = false;
  call.pending = { __proto__: null };
  call.timers = { __proto__: null };
  delete calls[call.id];
}

function toCall(id, names) {
  return {
    id,
    live: true,
    names,
    pending: { __proto__: null },
    timers: { __proto__: null },
    waiting: 0,
    set: 0,
  };
}

/** Finds an export by name, `tools.<name>` for the run function of a tool; a default export's own members count too. */
function find(name) {
  const isTool = cut(name, 6) === "tools.";
  const holder = isTool ? exported("tools") : undefined;
  const key = isTool ? apply(slice, name, [6]) : name;
  if (isTool) {
    const tool = holder && getOwnPropertyDescriptor(holder, key)?.value;
    return { self: tool, run: typeof tool === "function" ? tool : tool?.run };
  }
  return { self: undefined, run: exported(key) };
}

function exported(name) {
  if (getOwnPropertyDescriptor(module, name)) {
    return module[name];
  }
  const main = getOwnPropertyDescriptor(module, "default")?.value;
  return typeof main === "object" && main !== null ? getOwnPropertyDescriptor(main, name)?.value : undefined;
}

/** The `host` of one call. It is bound to that call, so that nobody else's rights can be used through it. */
function toHost(call) {
  const get = (_, name) => {
    if (typeof name !== "string" || name === "then") {
      return undefined;
    }
    return name === "log" ? log : (...args) => ask(call, name, args);
  };
  const target = { __proto__: null };
  for (let at = 0; at < call.names.length; at++) {
    target[call.names[at]] = true;
  }
  return new Proxy_(freeze({ __proto__: null }), {
    __proto__: null,
    get,
    has: (_, name) => name === "log" || target[name] === true,
  });
}

function ask(call, name, args) {
  if (!call.live) {
    return rejected(new Error_(`host.${name} was called after the call had ended.`));
  }
  if (!has(call.names, name)) {
    return rejected(new Error_(`host.${name} is not available here.`));
  }
  if (call.waiting >= maxPending) {
    return rejected(new Error_(`More than ${maxPending} host calls wait for their answers.`));
  }
  let text;
  try {
    text = stringify(args);
  } catch (error) {
    return rejected(error);
  }
  const at = ++serial;
  call.waiting++;
  return new Promise_((resolve, reject) => {
    call.pending[at] = { resolve, reject };
    send("host", call.id, text, name, at);
  });
}

function has(names, name) {
  for (let at = 0; at < names.length; at++) {
    if (names[at] === name) {
      return true;
    }
  }
  return false;
}

/** Adds `host` to the context, which is the last argument. */
function toArguments(call, text) {
  const args = parse(text);
  const last = args[args.length - 1];
  if (typeof last === "object" && last !== null && !isArray(last)) {
    defineProperty(last, "host", { __proto__: null, value: toHost(call), enumerable: false });
    if (args.length > 1) {
      freeze(last);
    }
  }
  return args;
}

function enter(id, name, text, names, isIterated) {
  const call = toCall(id, parse(names));
  calls[id] = current = call;
  let value;
  try {
    const { self, run } = find(name);
    if (typeof run !== "function") {
      leave(call, "missing", name);
      return;
    }
    value = apply(run, self, toArguments(call, text));
  } catch (error) {
    fail(call, error);
    return;
  }
  settle(
    value,
    (answer) => (isIterated ? begin(call, answer) : finish(call, answer)),
    (error) => fail(call, error),
  );
}

/** A generator waits until the host asks for items; anything else is one item. */
function begin(call, answer) {
  let next;
  try {
    if (typeof answer === "object" && answer !== null && !isArray(answer)) {
      const make =
        answer[asyncIterator] ?? (typeof answer.next === "function" ? answer[iterator] : undefined);
      call.source = make && apply(make, answer, []);
      next = call.source?.next;
    }
  } catch (error) {
    fail(call, error);
    return;
  }
  if (typeof next !== "function") {
    finish(call, answer);
    return;
  }
  call.next = next;
  send("begun", call.id);
}

/** Takes up to `count` items. Those that are ready together travel together; a slow one is not waited for. */
function pull(id, count) {
  const call = calls[id];
  if (call) {
    current = call;
    call.items = [];
    call.size = 0;
    call.left = count < maxItems ? count : maxItems;
    take(call);
  }
}

function take(call) {
  let step;
  try {
    step = apply(call.next, call.source, []);
  } catch (error) {
    flush(call, false);
    fail(call, error);
    return;
  }
  settle(
    step,
    (result) => keep(call, result),
    (error) => {
      flush(call, false);
      fail(call, error);
    },
  );
}

function keep(call, result) {
  if (!call.live) {
    return;
  }
  try {
    if (result.done) {
      flush(call, false);
      finish(call, undefined);
      return;
    }
    const text = toText(result.value);
    if (text !== undefined) {
      call.items[call.items.length] = text;
      call.size += text.length;
    }
  } catch (error) {
    flush(call, false);
    leave(call, "value", toReport(error));
    return;
  }
  call.left--;
  if (call.left === 0 || call.size > maxItemText) {
    flush(call, true);
    return;
  }
  if (call.items.length === 1) {
    wait(call, call.items, quietTurns);
  }
  take(call);
}

/** Sends what was collected when the next item does not come within some turns. */
function wait(call, items, turns) {
  apply(then, resolved(), [
    () => {
      if (call.items === items && items.length > 0) {
        if (items.length !== items.seen) {
          items.seen = items.length;
          wait(call, items, quietTurns);
        } else if (turns > 0) {
          wait(call, items, turns - 1);
        } else {
          flush(call, false);
        }
      }
    },
  ]);
}

/** `isFull` tells the host that this pull is over. */
function flush(call, isFull) {
  const { items } = call;
  call.items = [];
  call.size = 0;
  if (call.live && (items.length > 0 || isFull)) {
    send("items", call.id, `[${apply(join, items, [","])}]`, isFull ? "full" : "");
  }
}

/** Ends a call whose answer nobody waits for any more; a generator is told, so that its `finally` blocks run. */
function end(id) {
  const call = calls[id];
  if (!call) {
    return;
  }
  current = call;
  const { source } = call;
  close(call);
  try {
    const stop = source?.return;
    if (typeof stop === "function") {
      settle(
        apply(stop, source, []),
        () => {},
        () => {},
      );
    }
  } catch {}
}

function answer(id, at, isOk, text) {
  const call = calls[id];
  const asked = call?.pending[at];
  if (!asked) {
    return;
  }
  current = call;
  delete call.pending[at];
  call.waiting--;
  if (isOk) {
    asked.resolve(text === undefined ? undefined : parse(text));
  } else {
    asked.reject(new Error_(text));
  }
}

// --- timers: they belong to the call that set them and end with it ---

function setTimer(run, ms, args, isRepeated) {
  const call = current;
  if (typeof run !== "function") {
    throw new TypeError_("A timer needs a function.");
  }
  if (!call?.live) {
    throw new Error_("Timers run within a call; there is none.");
  }
  if (call.set >= maxTimers) {
    throw new RangeError_(`A call can have ${maxTimers} timers.`);
  }
  const at = ++serial;
  call.set++;
  call.timers[at] = { run, args, ms: isRepeated ? ms : undefined };
  send("timer", call.id, undefined, +ms || 0, at);
  return at;
}

function clearTimer(at) {
  const call = current;
  if (call?.timers[at]) {
    delete call.timers[at];
    call.set--;
  }
}

function tick(id, at) {
  const call = calls[id];
  const timer = call?.timers[at];
  if (!timer) {
    return;
  }
  current = call;
  if (timer.ms === undefined) {
    clearTimer(at);
  } else {
    send("timer", id, undefined, +timer.ms || 0, at);
  }
  try {
    apply(timer.run, undefined, timer.args);
  } catch (error) {
    write("error", [error]);
  }
}

globalThis.setTimeout = (run, ms, ...args) => setTimer(run, ms, args, false);
globalThis.setInterval = (run, ms, ...args) => setTimer(run, ms, args, true);
globalThis.clearTimeout = clearTimer;
globalThis.clearInterval = clearTimer;
globalThis.queueMicrotask = (run) => void apply(then, resolved(), [() => run()]);

// --- console ---

const [lineLength, linesPerSecond] = [2000, 200];
let [second, lines] = [0, 0];

function write(level, args) {
  const at = now();
  if (at - second >= 1000) {
    [second, lines] = [at, 0];
  }
  if (++lines > linesPerSecond) {
    return;
  }
  let text = "";
  for (let i = 0; i < args.length && text.length < lineLength; i++) {
    text += (i > 0 ? " " : "") + cut(toShown(args[i]), lineLength);
  }
  send("log", 0, cut(text, lineLength), level);
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
function log(...args) {
  const level = args.length > 1 && typeof args[0] === "string" ? levels[args[0]] : undefined;
  write(level ?? "info", level ? [args[1], args[2] ?? ""] : args);
  return resolved();
}

globalThis.console = { __proto__: null };
const names = ["debug", "log", "info", "warn", "error", "trace", "dir"];
for (let at = 0; at < names.length; at++) {
  const level = levels[names[at]] ?? "info";
  console[names[at]] = (...args) => write(level, args);
}

// --- what a module is ---

/** Takes the evaluated module and tells of its exports. Throws when reading them does. */
function adopt(namespace) {
  module = namespace;
  const seen = { __proto__: null, functions: [], data: { __proto__: null }, tools: { __proto__: null } };
  const main = getOwnPropertyDescriptor(namespace, "default")?.value;
  const all = { __proto__: null };
  const sources = typeof main === "object" && main !== null ? [main, namespace] : [namespace];
  for (let at = 0; at < sources.length; at++) {
    const found = keys(sources[at]);
    for (let n = 0; n < found.length; n++) {
      all[found[n]] = sources[at][found[n]];
    }
  }
  const found = keys(all);
  for (let at = 0; at < found.length; at++) {
    const [name, value] = [found[at], all[found[at]]];
    if (name === "tools" && typeof value === "object" && value !== null) {
      const tools = keys(value);
      for (let n = 0; n < tools.length; n++) {
        seen.tools[tools[n]] = parse(stringify(value[tools[n]]) ?? "{}");
      }
    } else if (typeof value === "function") {
      seen.functions[seen.functions.length] = name;
    } else if (name !== "default" && value !== undefined && typeof value !== "symbol") {
      seen.data[name] = parse(stringify(value) ?? "null");
    }
  }
  return stringify(seen);
}

return { adopt, answer, chain: toChain, end, enter, hook: toHook, pull, tick };
