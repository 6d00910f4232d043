// The stream hooks of one run, one after another over each chunk of a batch. Runs in the first hook's context, where the
// chunks are made; the other hooks are functions of their own contexts in the same isolate.

/**
 * `push` answers a line of failures, `place:report` each, and the batch (batch.js). When the host breaks it off, `resume`
 * leaves the hook that ran then out and goes on with the last good value, `retry` lets it try again; `where` names it,
 * and nothing when none ran.
 */
function toChain(...hooks) {
  const chain = new Chain(hooks);
  // Without chunks nothing is under way, and what stands in the chain is of an earlier batch.
  const end = (answer) => {
    chain.chunks = undefined;
    return answer;
  };
  return freeze({
    __proto__: null,
    push: (text) => end(push(chain, text)),
    resume() {
      chain.safe = stringify(leaveOut(chain));
      chain.link++;
      return end(runChain(chain));
    },
    retry(text) {
      if (chain.chunks === undefined) {
        return end(push(chain, text));
      }
      chain.safe ??= stringify(readBatch(chain, chain.batch)[chain.at]);
      return end(runChain(chain));
    },
    where() {
      const { at, chunks, hooks, link } = chain;
      return chunks !== undefined && at < chunks.length && link < hooks.length ? link : undefined;
    },
  });
}

const Chain = toRecord(
  class {
    isOut = [];
    /** Each answer of a hook is made JSON by itself, so that one that cannot be is found. */
    isCareful = false;
    /** The batch: its text, its chunks while it is under way, and those that are through. */
    batch = "";
    chunks = undefined;
    kept = [];
    failures = "";
    /** The chunk and the hook that are next, and that chunk's last good value as JSON. */
    at = 0;
    link = 0;
    safe = undefined;
    /** What is remembered of chunks (batch.js). */
    around = undefined;

    constructor(hooks) {
      this.hooks = hooks;
      for (let at = 0; at < hooks.length; at++) {
        this.isOut[at] = false;
      }
    }
  },
);

function push(chain, text) {
  reset(chain, text);
  try {
    return runChain(chain);
  } catch {
    // Some hook made what JSON has no word for. Looking closely finds out which.
    reset(chain, text);
    chain.isCareful = true;
    const answer = runChain(chain);
    chain.isCareful = false;
    return answer;
  }
}

const look = () => 0;

function reset(chain, text) {
  chain.batch = text;
  chain.chunks = undefined;
  chain.kept = [];
  chain.failures = "";
  chain.at = chain.link = 0;
  chain.safe = undefined;
  const chunks = readBatch(chain, text);
  if (text.length > maxItemText) {
    // Where a function is entered from a built-in the engine looks at the time, and at the next one it breaks off: before
    // a hook is there to be blamed.
    parse("[0]", look);
  }
  chain.chunks = chunks;
}

function runChain(chain) {
  const { chunks, hooks, isOut, kept } = chain;
  for (; chain.at < chunks.length; chain.at++, chain.link = 0, chain.safe = undefined) {
    let chunk = chain.safe === undefined ? chunks[chain.at] : parse(chain.safe);
    for (; chain.link < hooks.length && chunk !== null; chain.link++) {
      if (!isOut[chain.link]) {
        // The first hook's last good value is what came; later ones need a copy, since a hook may change its chunk.
        chain.safe = chain.link === 0 ? undefined : writeChunk(chain, chunk);
        chunk = pass(chain, chunk);
      }
    }
    if (chunk !== null) {
      kept[kept.length] = chunk;
    }
  }
  return `${chain.failures}\n${writeBatch(chain, kept)}`;
}

function pass(chain, chunk) {
  try {
    const next = chain.hooks[chain.link](chunk);
    if (next === null) {
      return null;
    }
    const value = next === undefined ? chunk : next;
    if (typeof value !== "object" || isArray(value) || "then" in value) {
      throw new TypeError_("A stream hook returns a chunk, null or nothing, and is not async.");
    }
    return chain.isCareful ? parse(toText(value)) : value;
  } catch (error) {
    chain.failures += `${chain.failures === "" ? "" : "\t"}${chain.link}:${toReport(error)}`;
    return leaveOut(chain);
  }
}

/** Takes the hook that runs out of the chain; answers what it was given. */
function leaveOut(chain) {
  chain.isOut[chain.link] = true;
  return chain.safe === undefined ? readBatch(chain, chain.batch)[chain.at] : parse(chain.safe);
}
