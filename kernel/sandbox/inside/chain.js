// The stream hooks of one run, one after another over each chunk of a batch. Runs in the first hook's context; the other
// hooks are functions of their own contexts in the same isolate.

/** Binds the stream hook of this module to the context of a run. */
function toHook(text) {
  const call = toCall(`hook ${++serial}`, []);
  const { run } = find("stream");
  const [context] = toArguments(call, `[${text}]`);
  if (typeof run !== "function") {
    throw new TypeError_("The module exports no stream function.");
  }
  freeze(context);
  return (chunk) => {
    current = call;
    return run(chunk, context);
  };
}

/**
 * `push` answers the batch as JSON, after a line of failures when hooks failed. When the host breaks it off, `resume`
 * leaves the hook that ran then out and goes on with the last good value; `where` names that hook.
 */
function toChain(...hooks) {
  const isOut = [];
  for (let at = 0; at < hooks.length; at++) {
    isOut[at] = false;
  }
  let [batch, at, link, safe, failures, isCareful] = ["", 0, 0, undefined, "", false];
  let [chunks, kept] = [[], []];

  function begin(text) {
    [batch, at, link, safe, failures] = [text, 0, 0, undefined, ""];
    [chunks, kept] = [parse(text), []];
  }

  function run() {
    for (; at < chunks.length; at++, link = 0, safe = undefined) {
      let chunk = safe === undefined ? chunks[at] : parse(safe);
      for (; link < hooks.length && chunk !== null; link++) {
        if (!isOut[link]) {
          // The first hook's last good value is what came; later ones need a copy, since a hook may change its chunk.
          safe = link === 0 ? undefined : stringify(chunk);
          chunk = pass(chunk);
        }
      }
      if (chunk !== null) {
        kept[kept.length] = chunk;
      }
    }
    const text = stringify(kept);
    kept = chunks = [];
    const told = failures;
    failures = "";
    return told === "" ? text : `${told}\n${text}`;
  }

  function pass(chunk) {
    try {
      const next = hooks[link](chunk);
      if (next === null) {
        return null;
      }
      const value = next === undefined ? chunk : next;
      if (typeof value !== "object" || isArray(value) || "then" in value) {
        throw new TypeError_("A stream hook returns a chunk, null or nothing, and is not async.");
      }
      return isCareful ? parse(toText(value)) : value;
    } catch (error) {
      failures += `${failures === "" ? "" : "\t"}${link}:${toReport(error)}`;
      return lastGood();
    }
  }

  function lastGood() {
    isOut[link] = true;
    return parse(safe ?? stringify(parse(batch)[at]));
  }

  return {
    push(text) {
      begin(text);
      try {
        return run();
      } catch {
        // Some hook made what JSON has no word for. Looking closely finds out which.
        isCareful = true;
        begin(text);
        const told = run();
        isCareful = false;
        return told;
      }
    },
    resume() {
      safe = stringify(lastGood());
      link++;
      return run();
    },
    where: () => link,
  };
}
