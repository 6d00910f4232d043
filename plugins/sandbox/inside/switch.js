// The runs of one owner that stream now. Everything that waits crosses the border as one text, runs that begin and end
// included: entering an isolate and watching its time costs more than a usual hook does.
const realms = { __proto__: null };
const chains = { __proto__: null };
/** Its lines, the place in them, the run that begins, what is answered so far, and for how many batches. */
const Crossing = toRecord(
  class {
    lines = undefined;
    at = 0;
    begun = undefined;
    told = "";
    count = 0;

    constructor(text) {
      this.text = text;
    }
  },
);
/** The one that runs. */
let crossing;
const absent = () => undefined;

/** Takes the ways of a module's context: `hook` binds its stream hook to a run, `chain` puts hooks together. */
function register(id, hook, chain) {
  realms[id] = { __proto__: null, hook, chain };
}

/**
 * The list holds one text. Its lines, by their first character:
 *   +run realm realm …   begins a run with a hook of each of these realms; a line for each follows (inside/hook.js)
 *   =run                 a batch, which is the next line
 *   -run                 ends a run
 *   ~realm               forgets a realm
 * The answer, in a list as well, has two lines for each batch: what failed, `place:report` each, and the batch as the
 * hooks left it.
 */
function cross(texts) {
  crossing = new Crossing(texts[0]);
  return go("push");
}

const resume = () => go("resume");
const retry = () => go("retry");

/**
 * Which run, and which of its hooks, ran when the host broke it off, no hook when none of them did; and how many batches
 * were through.
 */
function where() {
  const line = crossing.lines?.[crossing.at] ?? "";
  const [run] = apply(split, apply(slice, line, [1]), [" "]);
  const place = line[0] === "+" ? crossing.begun?.hooks.length : chains[run]?.way.where();
  return `${run}:${place ?? ""}:${crossing.at}:${crossing.count}`;
}

function go(first) {
  const lines = (crossing.lines ??= apply(split, crossing.text, ["\n"]));
  let step = first;
  while (crossing.at < lines.length) {
    const line = lines[crossing.at];
    const rest = apply(slice, line, [1]);
    if (line[0] === "=") {
      const answer = push(rest, lines[crossing.at + 1], step);
      crossing.told += crossing.count === 0 ? answer : `\n${answer}`;
      crossing.count++;
      crossing.at += 2;
    } else if (line[0] === "+") {
      crossing.at += 1 + begin(apply(split, rest, [" "]), crossing.at + 1, step);
    } else {
      delete (line[0] === "-" ? chains : realms)[rest];
      crossing.at++;
    }
    step = "push";
  }
  return [crossing.told];
}

/** Begins a run, or goes on with that; answers how many lines it took. A hook that was broken off is left out. */
function begin(names, from, step) {
  const count = names.length - 1;
  const chain = (crossing.begun ??= { __proto__: null, way: undefined, hooks: [], failures: "" });
  const { hooks } = chain;
  if (step === "resume" && hooks.length < count) {
    hooks[hooks.length] = absent;
  }
  for (let at = hooks.length; at < count; at++) {
    try {
      hooks[at] = realms[names[at + 1]].hook(crossing.lines[from + at], names[0]);
    } catch (error) {
      // Its place is kept, so that the others are told apart.
      hooks[at] = absent;
      chain.failures += `${chain.failures === "" ? "" : "\t"}${at}:${toReport(error)}`;
    }
  }
  chain.way = apply(realms[names[1]].chain, undefined, hooks);
  chains[names[0]] = chain;
  crossing.begun = undefined;
  return count;
}

function push(run, batch, step) {
  const chain = chains[run];
  if (!chain) {
    return `\n${batch}`;
  }
  // None of the hooks took the time: it is the batch that cannot be dealt with.
  if (step === "resume" && chain.way.where() === undefined) {
    delete chains[run];
    return `\n${batch}`;
  }
  const { failures } = chain;
  chain.failures = "";
  try {
    const answer = chain.way[step](batch);
    return failures === "" ? answer : joined(failures, answer);
  } catch (error) {
    // No hook's own failure, which the chain catches: nothing of it can be relied on any more.
    delete chains[run];
    return `:${toReport(error)}\n${batch}`;
  }
}

/** What failed at the begin, before what failed on the batch. */
const joined = (failures, answer) => (answer[0] === "\n" ? failures + answer : `${failures}\t${answer}`);

function toReport(error) {
  let message = "The stream hooks failed.";
  try {
    message = `${error.message}`;
  } catch {}
  return stringify({ __proto__: null, message, stack: "" });
}
