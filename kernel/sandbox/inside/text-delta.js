// Most chunks of a stream differ from the one before in nothing but their text. A chain keeps what is around the text, so
// that such a chunk is neither parsed nor written whole.

/** Some upstreams put something new into every chunk; learning in vain costs more than parsing. */
const mostMisses = 8;
const deltaNames = ["content"];
const holder = "~~the text of a chunk~~";
/** A slice that is not shorter keeps all the text that it is cut from. */
const shortestSlice = 13;

/** The chunk of a batch when it is like the one learned last; undefined when the batch has to be parsed. */
function readDelta(chain, text) {
  const { around } = chain;
  if (around === undefined) {
    return undefined;
  }
  const { start, end } = around;
  const until = text.length - end.length;
  if (
    until < start.length ||
    apply(slice, text, [0, start.length]) !== start ||
    apply(slice, text, [until]) !== end
  ) {
    return undefined;
  }
  const content = toContent(apply(slice, text, [start.length, until]));
  if (content === undefined) {
    return undefined;
  }
  chain.misses = 0;
  return { ...around.chunk, choices: [{ ...around.choice, delta: { content } }] };
}

function toContent(raw) {
  if (raw.length < shortestSlice && !apply(includes, raw, ['"']) && !apply(includes, raw, ["\\"])) {
    return raw;
  }
  try {
    // Fails for a quote that ends the text early, so that nothing but one string gets through.
    return parse(`"${raw}"`);
  } catch {
    return undefined;
  }
}

/** Learns from the chunk of a batch that had to be parsed, for as long as that proves to be of use. */
function learnDelta(chain, text, chunk) {
  const choice = chain.misses < mostMisses ? toTextChoice(chunk) : undefined;
  if (choice === undefined) {
    return;
  }
  chain.misses++;
  const json = stringify({ ...chunk, choices: [{ ...choice, delta: { content: holder } }] });
  const at = apply(indexOf, json, [holder]);
  const before = apply(slice, json, [0, at - 1]);
  const after = apply(slice, json, [at + holder.length + 1]);
  if (`[${before}${stringify(choice.delta.content)}${after}]` === text) {
    chain.around = toAround(chunk, choice, before, after);
  }
}

/** What chunks are alike in: their fields, and the JSON around the text and its quotes, of a chunk and of a batch of one. */
function toAround(chunk, choice, before, after) {
  return {
    chunk: { ...chunk },
    choice: { ...choice },
    chunkNames: keys(chunk),
    choiceNames: keys(choice),
    before,
    after,
    start: `[${before}"`,
    end: `"${after}]`,
  };
}

/** The only choice of a chunk that has text and nothing else. */
function toTextChoice(chunk) {
  if (!isFlat(chunk, "choices") || !isArray(chunk.choices) || chunk.choices.length !== 1) {
    return undefined;
  }
  const choice = chunk.choices[0];
  return isFlat(choice, "delta") &&
    isFlat(choice.delta, "content") &&
    typeof choice.delta.content === "string" &&
    isAlike(choice.delta, deltaNames, choice.delta, "content")
    ? choice
    : undefined;
}

/** Whether all fields but one are plain: what a hook does to an object must not show in the next chunk. */
function isFlat(value, except) {
  if (!isObject(value)) {
    return false;
  }
  const own = keys(value);
  for (let at = 0; at < own.length; at++) {
    const field = value[own[at]];
    if (own[at] !== except && typeof field === "object" && field !== null) {
      return false;
    }
  }
  return true;
}

/** The JSON of a chunk, from what is around its text where it still is as it was. */
function writeChunk({ around }, chunk) {
  const content = around === undefined ? undefined : changedText(around, chunk);
  return content === undefined ? stringify(chunk) : around.before + stringify(content) + around.after;
}

/**
 * The text of a chunk that differs in nothing else. Whatever code has made of the chunk: an answer is a text, and
 * everything that JSON would tell of the chunk besides was just looked at.
 */
function changedText(around, chunk) {
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

const isObject = (value) => typeof value === "object" && value !== null;

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
