// A call as the parts of the bootstrap know it, and how it ends.
import { calls, onLoop, send } from "./environment.js";
import { parse, split } from "./natives.js";
import { apply, defineProperty, freeze, keys, newList, RangeError_, then_, toRecord } from "./primordials.js";
import { toReport, toText } from "./values.js";

const none = freeze([]);

/** Calls that ended with open questions, until the host says `end`. */
export const leaving = { __proto__: null };

/** A call that is under way. Parts that most calls never need are made later. */
export const Call = toRecord(
  class {
    live = true;
    discardsResult = false;
    /** Its entry has not returned: what ends it is that entry's answer. */
    isEntering = false;
    ending = none;
    host = undefined;
    /** The JSON of members of the context that calls share. */
    shared = "";
    /** The names of members that are parsed when the code reads them, how, and those that are. */
    lazyMembers = none;
    toMember = askForMember;
    made = undefined;
    pending = undefined;
    timers = undefined;
    waiting = 0;
    waitingLength = 0;
    set = 0;

    /** `names` are the host functions of the call, a blank between them. */
    constructor(id, names) {
      this.id = id;
      this.names = names;
    }
  },
);

/** Asks the host, on whose thread the code runs. */
function askForMember(call, name) {
  const text = send("member", call.id, undefined, name);
  if (text === undefined) {
    throw new RangeError_(`ctx.${name} cannot be read here: it is too long, or the call is over.`);
  }
  return parse(text);
}

/**
 * Takes lazy members. On the event loop's own thread the line holds their names, and the host is asked for what is read; on
 * others it holds names and JSON in turn. They are apart by tabs, which no JSON holds.
 */
export function bringMembers(call, line) {
  if (line === "") {
    return;
  }
  const parts = apply(split, line, ["\t"]);
  if (onLoop) {
    call.lazyMembers = parts;
    return;
  }
  const names = newList();
  const texts = { __proto__: null };
  for (let at = 0; at < parts.length; at += 2) {
    names[names.length] = parts[at];
    texts[parts[at]] = parts[at + 1];
  }
  call.lazyMembers = names;
  call.toMember = (_, name) => parse(texts[name]);
}

/** Tells the host how the call ended, once. */
export function leave(call, kind, text) {
  if (call.live) {
    close(call);
    if (call.isEntering) {
      call.ending = [kind, text ?? ""];
    } else {
      send(kind, call.id, text);
    }
  }
}

export const fail = (call, thrown) => leave(call, "fail", toReport(thrown));

export function finish(call, value) {
  let text;
  try {
    text = call.discardsResult ? undefined : toText(value);
  } catch (error) {
    leave(call, "value", toReport(error));
    return;
  }
  leave(call, "done", text);
}

/** From here on the call's host functions answer nothing and its timers do not fire. */
export function close(call) {
  call.live = false;
  call.timers = undefined;
  delete calls[call.id];
  // Refusing here would lay what the code does not catch to the call that is entered. On the event loop's own thread
  // nothing is refused at all: a call that asked for something begins again on another thread.
  if (call.waiting > 0 && !onLoop) {
    leaving[call.id] = call;
  }
}

/** Answers the open questions of an ended call: another call may wait for them. */
export function refuseAll(call) {
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
export function refuse({ promise, failure, reject }, text) {
  void apply(then_, promise, [undefined, () => {}]);
  defineProperty(failure, "message", { __proto__: null, value: text, writable: true, configurable: true });
  reject(failure);
}
