// The stream hook of a module, for the chains that run it (inside/chain.js).

/**
 * Binds the stream hook of this module to the context of a run. `line` is the JSON of the context, which runs share, and,
 * apart by tabs, the names of members that the host is asked for when the code reads them.
 */
function toHook(line, run) {
  const call = new Call(`hook ${++serial}`, "");
  const found = find("stream").run;
  const parts = apply(split, line, ["\t"]);
  const context = { ...toShared(parts[0]) };
  if (typeof found !== "function") {
    throw new TypeError_("The module exports no stream function.");
  }
  call.toMember = (_, name) => readLater(run, name);
  const names = [];
  for (let at = 1; at < parts.length; at++) {
    names[names.length] = parts[at];
  }
  call.later = names;
  toContext(call, context);
  freeze(context);
  return (chunk) => {
    current = call;
    return found(chunk, context);
  };
}

function readLater(run, name) {
  const text = send("later", run, undefined, name);
  if (text === undefined) {
    throw new RangeError_(`ctx.${name} cannot be read here: it is too long, or the run is over.`);
  }
  return parse(text);
}
