// Calls that begin in one crossing. Everything comes and goes as a list of texts, which are copied as they are: what is
// long, such as the contents of messages, nobody has to write as JSON or to read.

/** Calls that began together. */
const Batch = toRecord(
  class {
    /** How they ended, for each `id kind`, and the answers, behind a place for that. */
    head = "";
    texts = [""];
    isEntered = true;

    constructor(left) {
      this.left = left;
    }
  },
);

/**
 * Begins them. The first text tells of each `id count place place …`, apart by semicolons; the texts behind it are for each
 * call what kind it is (`toKind`), what it shares, its arguments, of which there are `count`, and the contents of those
 * messages of the first argument that stand at the places.
 *
 * How they ended comes in such a list: `id kind place which place which …`, and behind it what came of each. In the messages
 * of that the contents at the places are left out; they are those that the call got as the first, second … of its contents.
 * The list is the answer if none of them waits; if some do it comes later, as one text.
 */
function enterAll(texts) {
  // By their places: what reads lists otherwise may be the author's.
  const heads = apply(split, texts[0], [";"]);
  const batch = new Batch(heads.length);
  let at = 1;
  for (let n = 0; n < heads.length; n++) {
    const head = apply(split, heads[n], [" "]);
    const kind = (kinds[texts[at]] ??= toKind(texts[at]));
    const call = new Call(head[0], kind.names);
    call.batch = batch;
    call.isUnread = kind.isUnread;
    call.later = kind.later;
    call.texts = texts;
    call.shared = texts[at + 1];
    call.text = at + 2;
    call.count = +head[1];
    call.places = head;
    at = call.text + call.count + head.length - 2;
    run(call, kind.name, readArguments, false);
  }
  batch.isEntered = false;
  return batch.left === 0 ? toEndings(batch) : [""];
}

/** What calls have in common, by the lines that tell of it; they are few. */
const kinds = { __proto__: null };

/** Four lines: `unread` where nobody reads the answer, a name, what is asked for later, and names of host functions. */
function toKind(text) {
  const lines = apply(split, text, ["\n"]);
  return {
    __proto__: null,
    isUnread: lines[0] !== "",
    name: lines[1],
    later: lines[2] === "" ? none : apply(split, lines[2], [" "]),
    names: lines[3],
  };
}

function readArguments({ texts, text, count, places }) {
  const args = [];
  for (let at = 0; at < count; at++) {
    args[at] = parse(texts[text + at]);
  }
  for (let at = 2; at < places.length; at++) {
    args[0].messages[places[at]].content = texts[text + count + at - 2];
  }
  return args;
}

/** The value, or a copy without contents of messages that came by themselves, and are in the order in which they came. */
function withoutContents(call, value) {
  const count = call.places.length - 2;
  if (count <= 0 || !isPlain(value)) {
    return value;
  }
  const { messages } = value;
  if (!isArray(messages) || messages.toJSON !== undefined) {
    return value;
  }
  const from = call.text + call.count;
  const shortened = [];
  let next = 0;
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    shortened[at] = message;
    if (isPlain(message)) {
      const which = placeOf(message.content, call.texts, from + next, from + count);
      if (which >= 0) {
        const copy = copyOf(message, "content", call.texts[which], "");
        if (copy !== undefined) {
          next = which - from + 1;
          call.apart += ` ${at} ${which - from}`;
          shortened[at] = copy;
        }
      }
    }
  }
  if (call.apart === "") {
    return value;
  }
  const copy = copyOf(value, "messages", messages, shortened);
  if (copy === undefined) {
    call.apart = "";
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

function placeOf(content, texts, from, to) {
  for (let at = from; at < to; at++) {
    if (texts[at] === content) {
      return at;
    }
  }
  return -1;
}

function tell(call, kind, text) {
  const { batch } = call;
  const head = `${call.id} ${kind}${kind === "done" ? call.apart : ""}`;
  batch.head += batch.head === "" ? head : `;${head}`;
  batch.texts[batch.texts.length] = text ?? "";
  batch.left--;
  if (batch.left === 0 && !batch.isEntered) {
    send("endings", 0, apply(join, toEndings(batch), ["\n"]));
  }
}

function toEndings(batch) {
  batch.texts[0] = batch.head;
  return batch.texts;
}
