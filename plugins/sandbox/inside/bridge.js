// The life of a call. `send` posts a message to the host; only texts and numbers cross the border.
let module;
/** The call whose code runs: each way in runs until nothing is left to do, so that one call runs at a time. */
let current;
const calls = { __proto__: null };
/** Calls that ended with open questions, until the host says `end`. */
const leaving = { __proto__: null };
let serial = 0;

const cut = (text, length) => apply(slice, text, [0, length]);
const resolved = (value) => new Promise_((resolve) => resolve(value));
const rejected = (error) => new Promise_((_, reject) => reject(error));

/** Runs `done` or `failed` when `value`, a promise or not, is settled: at once where there is nothing to wait for. */
function settle(value, done, failed) {
  if (isThenable(value)) {
    apply(then, resolved(value), [done, failed]);
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
  return toPlain(text);
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

/** Tells the host how the call ended, once. */
function leave(call, kind, text) {
  if (call.live) {
    close(call);
    if (call.batch) {
      tell(call, kind, text);
    } else {
      send(kind, call.id, text);
    }
  }
}

const fail = (call, thrown) => leave(call, "fail", toReport(thrown));

function finish(call, value) {
  let text;
  try {
    text = call.isUnread ? undefined : toText(call.batch ? withoutContents(call, value) : value);
  } catch (error) {
    leave(call, "value", toReport(error));
    return;
  }
  leave(call, "done", text);
}

/** From here on the call's host functions answer nothing and its timers do not fire. */
function close(call) {
  call.live = false;
  call.timers = undefined;
  delete calls[call.id];
  // Refusing here would lay what the code does not catch to the call that is entered. One that began with others is
  // not refused at all: whoever waits for what it has asked begins afresh.
  if (call.waiting > 0 && call.batch === undefined) {
    leaving[call.id] = call;
  }
}

/** Another call may wait for what an ended one has asked. */
function refuseAll(call) {
  const { pending } = call;
  delete leaving[call.id];
  call.pending = undefined;
  if (pending !== undefined) {
    const asked = keys(pending);
    for (let at = 0; at < asked.length; at++) {
      refuse(pending[asked[at]], "The call was ended.");
    }
  }
}

/** Lets code that asked the host go on with an error; it need not look at it. */
function refuse({ promise, failure, reject }, text) {
  void apply(then, promise, [undefined, () => {}]);
  defineProperty(failure, "message", { __proto__: null, value: text, writable: true, configurable: true });
  reject(failure);
}

/** The context is the last of the arguments, if it is an object. Adds to it what a context has besides. */
function toArguments(call, args) {
  const last = args[args.length - 1];
  if (isObject(last) && !isArray(last)) {
    const context = call.shared === "" ? last : { ...toShared(call.shared), ...last };
    toContext(call, context);
    args[args.length - 1] = args.length > 1 ? freeze(context) : context;
  }
  return args;
}

const isObject = (value) => typeof value === "object" && value !== null;

function enter(id, name, text, shared, later, names, isIterated, isUnread) {
  const call = new Call(id, names);
  call.shared = shared;
  call.isUnread = isUnread;
  if (later !== "") {
    bringMembers(call, later);
  }
  run(call, name, () => parse(text), isIterated);
}

/** `read` makes the arguments: what goes wrong there is told like what goes wrong in the code. */
function run(call, name, read, isIterated) {
  calls[call.id] = current = call;
  let value;
  try {
    const found = find(name);
    if (typeof found.run !== "function") {
      leave(call, "missing", name);
      return;
    }
    value = apply(found.run, found.self, toArguments(call, read(call)));
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

/** Ends a call whose answer nobody waits for any more; a generator is told, so that its `finally` blocks run. */
function end(id) {
  const call = calls[id] ?? leaving[id];
  if (!call) {
    return;
  }
  current = call;
  const source = call.live ? call.source : undefined;
  close(call);
  refuseAll(call);
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

function answer(id, at, isOk, text, isSource) {
  const call = calls[id];
  const asked = call?.pending?.[at];
  if (!asked) {
    return;
  }
  current = call;
  delete call.pending[at];
  call.waiting--;
  call.waitingLength -= asked.length;
  if (isSource) {
    asked.resolve(toSource(call, at));
  } else if (isOk) {
    asked.resolve(text === undefined ? undefined : parse(text));
  } else {
    refuse(asked, text);
  }
}
