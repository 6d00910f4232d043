// The host functions of a call.
import { onLoop, send, state } from "./environment.js";
import { log } from "./console.js";
import { split } from "./natives.js";
import {
  apply,
  asyncIterator,
  Error_,
  freeze,
  maxPending,
  maxPendingText,
  Promise_,
  Proxy_,
  RangeError_,
  then_,
} from "./primordials.js";
import { cut, rejected, resolved, toText } from "./values.js";

/** The `host` of one call. It is bound to that call, so that other callers' rights cannot be used through it. */
export function toHost(call) {
  if (typeof call.names === "string") {
    call.names = call.names === "" ? [] : apply(split, call.names, [" "]);
  }
  const get = (_, name) => {
    if (typeof name !== "string" || name === "then") {
      return undefined;
    }
    if (name === "log") {
      return log;
    }
    return groups[name] ?? ((...args) => ask(call, name, args));
  };
  const target = { __proto__: null };
  const groups = { __proto__: null };
  for (let at = 0; at < call.names.length; at++) {
    target[call.names[at]] = true;
    const group = groupOf(call.names[at]);
    if (group !== undefined) {
      target[group] = true;
      groups[group] ??= toGroup(call, group);
    }
  }
  return new Proxy_(freeze({ __proto__: null }), {
    __proto__: null,
    get,
    has: (_, name) => name === "log" || target[name] === true,
  });
}

/** The part before the dot of a name such as `storage.get`. */
function groupOf(name) {
  for (let at = 0; at < name.length; at++) {
    if (name[at] === ".") {
      return cut(name, at);
    }
  }
  return undefined;
}

/** `host.storage`, whose functions are `storage.get`, `storage.set` and so on. */
function toGroup(call, group) {
  const get = (_, name) =>
    typeof name !== "string" || name === "then"
      ? undefined
      : (...args) => ask(call, `${group}.${name}`, args);
  return new Proxy_(freeze({ __proto__: null }), { __proto__: null, get });
}

function ask(call, name, args) {
  if (!call.live) {
    // Code of the call itself that goes on and tries again would never stop. Another call is told of its mistake.
    return call === state.current || onLoop
      ? new Promise_(() => {})
      : rejected(new Error_(`host.${name} was called after the call had ended.`));
  }
  if (!has(call.names, name)) {
    return rejected(new Error_(`host.${name} is not available here.`));
  }
  return post(call, name, args);
}

/** Sends a question to the host, which answers it in `answer`. */
function post(call, name, args) {
  if (call.waiting >= maxPending) {
    return rejected(new Error_(`More than ${maxPending} host calls wait for their answers.`));
  }
  let text;
  try {
    text = toText(args);
  } catch (error) {
    return rejected(error);
  }
  const { length } = text;
  if (call.waitingLength + length > maxPendingText) {
    return rejected(new RangeError_(`The arguments of host.${name} are too long.`));
  }
  const at = ++state.serial;
  call.waiting++;
  call.waitingLength += length;
  // Made here, so that it names the line that asked.
  const failure = new Error_(`host.${name} failed.`);
  const asked = {
    __proto__: null,
    promise: undefined,
    resolve: undefined,
    reject: undefined,
    length,
    failure,
  };
  asked.promise = new Promise_((resolve, reject) => {
    asked.resolve = resolve;
    asked.reject = reject;
  });
  call.pending ??= { __proto__: null };
  call.pending[at] = asked;
  send("host", call.id, text, name, at);
  return asked.promise;
}

function has(names, name) {
  for (let at = 0; at < names.length; at++) {
    if (names[at] === name) {
      return true;
    }
  }
  return false;
}

/** Items that a host function streams, one by one, fetched a batch at a time. `at` is the question that it answers. */
export function toSource(call, at) {
  let items = [];
  let from = 0;
  let isOver = false;
  const over = { __proto__: null, value: undefined, done: true };
  const take = (batch) => {
    items = batch ?? [];
    from = 0;
    isOver = batch === undefined;
    return step();
  };
  const step = () => {
    if (from < items.length) {
      return resolved({ __proto__: null, value: items[from++], done: false });
    }
    if (isOver || !call.live) {
      return resolved(over);
    }
    return apply(then_, post(call, "source/next", [at]), [
      take,
      (error) => {
        isOver = true;
        throw error;
      },
    ]);
  };
  // One after another: code may ask for the next item before it has the last.
  let last = resolved();
  const next = () => (last = apply(then_, last, [step, step]));
  const stop = () => {
    if (!isOver && call.live) {
      void apply(then_, post(call, "source/end", [at]), [() => {}, () => {}]);
    }
    isOver = true;
    items = [];
    from = 0;
    return resolved(over);
  };
  const source = { __proto__: null, next, return: stop };
  source[asyncIterator] = () => source;
  return source;
}
