// Batches of chunks as they cross. Most chunks of a stream differ from the one before in nothing but their text: of those
// only the text crosses, and they are neither parsed nor written whole.

/**
 * The chunks of a batch, which comes as one of
 *   [chunk,…]            JSON
 *   !before⇥text⇥after   a chunk that is remembered: the JSON of its text, and what stands around that
 *   *text                a chunk like the one that was remembered last, with this text
 */
function readBatch(chain, batch) {
  if (batch[0] === "*") {
    return [toChunk(chain.around, parse(apply(slice, batch, [1])))];
  }
  if (batch[0] !== "!") {
    return parse(batch);
  }
  // No pattern: code may have changed how lists are gone through.
  const parts = apply(split, apply(slice, batch, [1]), ["\t"]);
  const before = parts[0];
  const after = parts[2];
  const chunk = parse(before + parts[1] + after);
  const choice = chunk.choices[0];
  chain.around = {
    before,
    after,
    chunk: { ...chunk },
    choice: { ...choice },
    chunkNames: keys(chunk),
    choiceNames: keys(choice),
  };
  return [chunk];
}

/** The fields of what is remembered are plain: what a hook does to a chunk does not show in the next. */
const toChunk = ({ chunk, choice }, content) => ({ ...chunk, choices: [{ ...choice, delta: { content } }] });

/** The answer to a batch: `*text` for a chunk that differs from the one remembered in nothing else, and JSON. */
function writeBatch(chain, chunks) {
  const text = chunks.length === 1 ? changedText(chain.around, chunks[0]) : undefined;
  return text === undefined ? stringify(chunks) : `*${stringify(text)}`;
}

function writeChunk({ around }, chunk) {
  const text = changedText(around, chunk);
  return text === undefined ? stringify(chunk) : around.before + stringify(text) + around.after;
}

const deltaNames = ["content"];

/**
 * The text of a chunk that differs from the one remembered in nothing else. Whatever code has made of the chunk, all that
 * JSON would tell of it is looked at.
 */
function changedText(around, chunk) {
  if (around === undefined) {
    return undefined;
  }
  const { choices } = chunk;
  if (!isArray(choices) || choices.length !== 1 || !isObject(choices[0])) {
    return undefined;
  }
  const choice = choices[0];
  const { delta } = choice;
  if (!isObject(delta)) {
    return undefined;
  }
  const { content } = delta;
  const isSame =
    typeof content === "string" &&
    isAlike(chunk, around.chunkNames, around.chunk, "choices") &&
    isAlike(choice, around.choiceNames, around.choice, "delta") &&
    isAlike(delta, deltaNames, delta, "content") &&
    chunk.toJSON === undefined &&
    choices.toJSON === undefined &&
    choice.toJSON === undefined &&
    delta.toJSON === undefined;
  return isSame ? content : undefined;
}

/** The same fields with the same values in the same order, whatever the value of `except`. */
function isAlike(value, names, model, except) {
  const own = keys(value);
  if (own.length !== names.length) {
    return false;
  }
  for (let at = 0; at < own.length; at++) {
    const name = own[at];
    if (name !== names[at] || (name !== except && value[name] !== model[name])) {
      return false;
    }
  }
  return true;
}
