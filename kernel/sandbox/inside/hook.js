// The stream hook of a module, for the chains that run it (inside/chain.js).

/**
 * Binds the stream hook of this module to the context of a run. `line` is the context as JSON and, apart by tabs, the
 * names of members that the host is asked for when the code reads them.
 */
function toHook(line, run) {
  const call = toCall(`hook ${++serial}`, "");
  const found = find("stream").run;
  const parts = apply(split, line, ["\t"]);
  const context = toArguments(call, { __proto__: null, text: `[${parts[0]}]`, later: "" })[0];
  if (typeof found !== "function") {
    throw new TypeError_("The module exports no stream function.");
  }
  for (let at = 1; at < parts.length; at++) {
    const name = parts[at];
    defineLater(context, name, () => readLater(run, name));
  }
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
