// The context that code is called with: its JSON, `host`, and members that are made when they are read. The accessors are
// the same for all contexts: one with functions of its own would be a table to the engine, and slow to make.
import { parse, nativeFreeze, nativeKeys } from "./natives.js";
import { defineProperty, getPrototypeOf, newList } from "./primordials.js";
import { toHost } from "./host-functions.js";
import { isObject } from "./values.js";

/** As what another class extends, it has that one's fields added to what is given. */
function Given(value) {
  return value;
}

/** Marks a context with its call, where no code can see it. */
class Mark extends Given {
  #call;

  constructor(context, call) {
    super(context);
    this.#call = call;
  }

  static set(context, call) {
    return new Mark(context, call);
  }

  /** The call of a context, or of what inherits from one. */
  static callOf(value) {
    for (
      let at = value;
      (typeof at === "object" || typeof at === "function") && at !== null;
      at = getPrototypeOf(at)
    ) {
      if (#call in at) {
        return at.#call;
      }
    }
    return undefined;
  }
}

const hostLook = {
  __proto__: null,
  get() {
    const call = Mark.callOf(this);
    // Made when it is asked for, because many calls never do.
    return call && (call.host ??= toHost(call));
  },
  enumerable: false,
};

/** The accessors of members that are made later, by name. The host chooses the names; they are few. */
const memberLooks = { __proto__: null };

function toMemberLook(name) {
  const get = function () {
    const call = Mark.callOf(this);
    if (call === undefined) {
      return undefined;
    }
    const made = (call.made ??= { __proto__: null });
    if (!(name in made)) {
      made[name] = call.toMember(call, name);
    }
    return made[name];
  };
  return { __proto__: null, get, enumerable: true };
}

/** Values of texts that many calls are given, and the characters of those texts. An isolate may have many contexts. */
let shared = { __proto__: null };
let sharedLength = 0;
const mostShared = 2 ** 15;

/** The value of a JSON text, frozen in depth. The same text gives the same value. */
export function toShared(text) {
  let value = shared[text];
  if (value === undefined) {
    value = frozen(parse(text));
    if (text.length > mostShared / 4) {
      return value;
    }
    sharedLength += text.length;
    if (sharedLength > mostShared) {
      shared = { __proto__: null };
      sharedLength = text.length;
    }
    shared[text] = value;
  }
  return value;
}

/** Without recursion: values may be nested as deep as they like. Nothing in them is an author's, so that no guard is needed. */
function frozen(value) {
  const all = newList();
  all[0] = value;
  for (let at = 0; at < all.length; at++) {
    const names = nativeKeys(nativeFreeze(all[at]));
    for (let n = 0; n < names.length; n++) {
      const member = all[at][names[n]];
      if (isObject(member)) {
        all[all.length] = member;
      }
    }
  }
  return value;
}

/** Adds `host` to what a call is given, and the members that are made later, to code like the others. */
export function addMembers(call, context) {
  Mark.set(context, call);
  defineProperty(context, "host", hostLook);
  const { lazyMembers } = call;
  for (let at = 0; at < lazyMembers.length; at++) {
    const name = lazyMembers[at];
    defineProperty(context, name, (memberLooks[name] ??= toMemberLook(name)));
  }
}
