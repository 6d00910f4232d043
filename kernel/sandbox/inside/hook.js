// The stream hook of a module, for the chains that run it (inside/chain.js).

/** Binds the stream hook of this module to the context of a run. */
function toHook(text) {
  const call = toCall(`hook ${++serial}`, "");
  const { run } = find("stream");
  const context = toArguments(call, { __proto__: null, text: `[${text}]`, later: "" })[0];
  if (typeof run !== "function") {
    throw new TypeError_("The module exports no stream function.");
  }
  freeze(context);
  return (chunk) => {
    current = call;
    return run(chunk, context);
  };
}
