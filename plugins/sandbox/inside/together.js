// Calls that begin in one crossing. Everything comes and goes as a list of numbers and texts, which are copied as they are:
// what is long, such as the contents of messages, nobody has to write as JSON or to read.

/** Calls that began together. */
const Batch = toRecord(
  class {
    /** How they ended. */
    endings = newList();
    isEntered = true;

    constructor(left) {
      this.left = left;
    }
  },
);

/**
 * Begins them. The list holds their number and for each
 *   id, number of arguments, number of places, each place, kind (`toKind`), what it shares, each argument, each content
 * Places are those of messages of the first argument, and contents what stands there.
 *
 * How they ended comes in a list that holds for each
 *   id, how, number of contents that were left out, for each of those its place and which it is, what came of the call
 * Contents are left out of messages of what came of the call, and are among those that it got: the first is 0.
 * The list is the answer if none of them waits; if some do it comes later, as lines of one text.
 */
function enterAll(list) {
  const batch = new Batch(list[0]);
  for (let at = 1; at < list.length;) {
    const call = new Call(list[at], "");
    call.count = list[at + 1];
    call.placeCount = list[at + 2];
    call.place = at + 3;
    const from = call.place + call.placeCount;
    const kind = (kinds[list[from]] ??= toKind(list[from]));
    call.names = kind.names;
    call.isUnread = kind.isUnread;
    call.later = kind.later;
    call.batch = batch;
    call.list = list;
    call.shared = list[from + 1];
    call.text = from + 2;
    at = call.text + call.count + call.placeCount;
    run(call, kind.name, readArguments, false);
  }
  batch.isEntered = false;
  return batch.left === 0 ? batch.endings : none;
}

/** What calls have in common, by the text that tells of it; they are few. */
const kinds = { __proto__: null };

/** Whether nobody reads the answer, a name, names of what is asked for later, and those of host functions, with blanks. */
function toKind(text) {
  const parts = parse(text);
  return { __proto__: null, isUnread: parts[0], name: parts[1], later: parts[2], names: parts[3] };
}

function readArguments({ list, text, count, place, placeCount }) {
  const args = newList();
  for (let at = 0; at < count; at++) {
    args[at] = parse(list[text + at]);
  }
  for (let at = 0; at < placeCount; at++) {
    args[0].messages[list[place + at]].content = list[text + count + at];
  }
  return args;
}

/**
 * The value, or a copy without contents that the call got. They are looked for in the order in which they came: hooks leave
 * messages out and add some, but seldom change places.
 */
function withoutContents(call, value) {
  const { list, placeCount } = call;
  if (placeCount === 0 || !isPlain(value)) {
    return value;
  }
  const { messages } = value;
  if (!isArray(messages) || messages.toJSON !== undefined) {
    return value;
  }
  const from = call.text + call.count;
  const shortened = newList();
  const apart = newList();
  let next = from;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    shortened[at] = message;
    if (isPlain(message)) {
      const which = placeOf(message.content, list, next, from + placeCount);
      const copy = which < 0 ? undefined : copyOf(message, "content", list[which], "");
      if (copy !== undefined) {
        next = which + 1;
        apart[apart.length] = at;
        apart[apart.length] = which - from;
        shortened[at] = copy;
      }
    }
  }
  const copy = apart.length === 0 ? undefined : copyOf(value, "messages", messages, shortened);
  if (copy !== undefined) {
    call.apart = apart;
  }
  return copy ?? value;
}

/** An object that is written as its fields are. */
const isPlain = (value) => isObject(value) && value.toJSON === undefined;

/** What would be written of the object, with another value of one field; nothing if that field would not be. */
function copyOf(value, name, before, after) {
  const copy = { ...value };
  if (!apply(propertyIsEnumerable, copy, [name]) || copy[name] !== before) {
    return undefined;
  }
  copy[name] = after;
  return copy;
}

function placeOf(content, list, from, to) {
  for (let at = from; at < to; at++) {
    if (list[at] === content) {
      return at;
    }
  }
  return -1;
}

function tell(call, how, text) {
  const { apart, batch } = call;
  const { endings } = batch;
  const contents = how === "done" ? apart : none;
  endings[endings.length] = call.id;
  endings[endings.length] = how;
  endings[endings.length] = contents.length / 2;
  for (let at = 0; at < contents.length; at++) {
    endings[endings.length] = contents[at];
  }
  endings[endings.length] = text ?? "";
  batch.left--;
  if (batch.left === 0 && !batch.isEntered) {
    send("endings", 0, apply(join, endings, ["\n"]));
  }
}
