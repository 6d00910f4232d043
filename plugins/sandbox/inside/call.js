// A call as the parts of the bootstrap know it.

const none = freeze([]);

/** What a call has under way. What most calls never need is made later. */
const Call = toRecord(
  class {
    live = true;
    isUnread = false;
    batch = undefined;
    host = undefined;
    /** JSON of members of the context. */
    shared = "";
    /** The names of members that are made when the code reads them, how, and those that are. */
    later = none;
    /** Of one that began with others (together.js): the list, where its places and its arguments are in it, and how many. */
    list = none;
    place = 0;
    placeCount = 0;
    text = 0;
    count = 0;
    /** Contents that are left out of its answer: the place of each, and which it is. */
    apart = none;
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

/** Members that came along: names and their JSON in turn, apart by tabs. */
function bringMembers(call, line) {
  const parts = apply(split, line, ["\t"]);
  const names = [];
  const texts = { __proto__: null };
  for (let at = 0; at < parts.length; at += 2) {
    names[names.length] = parts[at];
    texts[parts[at]] = parts[at + 1];
  }
  call.later = names;
  call.toMember = (_, name) => parse(texts[name]);
}
