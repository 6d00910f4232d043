// The runs of one owner that stream now. Everything that waits crosses the border as one text, runs that begin and end
// included: entering an isolate and watching its time costs more than a usual hook does.
const realms = { __proto__: null };
const chains = { __proto__: null };
/** The crossing that runs: its lines, the place in them, and what is answered so far. */
let crossing;

/** Takes the ways of a module's context: `hook` binds its stream hook to a run, `chain` puts hooks together. */
function register(id, hook, chain) {
  realms[id] = { __proto__: null, hook, chain };
}

/**
 * The lines of a crossing, by their first character:
 *   +run realm realm …   begins a run with a hook of each of these realms; a line with its context follows for each
 *   =run                 a batch, which is the next line
 *   -run                 ends a run
 *   ~realm               forgets a realm
 * The answer has two lines for each batch: what failed, `place:report` each, and the batch as the hooks left it.
 */
function cross(text) {
  crossing = { __proto__: null, lines: apply(split, text, ["\n"]), at: 0, told: "", count: 0 };
  return go("push");
}

const resume = () => go("resume");
const retry = () => go("retry");

/** Which batch of the crossing, and which hook, ran when the host broke it off. */
function where() {
  const run = apply(slice, crossing.lines[crossing.at], [1]);
  return `${crossing.count}:${chains[run]?.way?.where() ?? 0}`;
}

function go(first) {
  const { lines } = crossing;
  let step = first;
  while (crossing.at < lines.length) {
    const line = lines[crossing.at];
    const rest = apply(slice, line, [1]);
    if (line[0] === "=") {
      const answer = push(rest, lines[crossing.at + 1], step);
      crossing.told += crossing.count === 0 ? answer : `\n${answer}`;
      crossing.count++;
      crossing.at += 2;
      step = "push";
    } else if (line[0] === "+") {
      crossing.at += 1 + begin(apply(split, rest, [" "]), crossing.at + 1);
    } else {
      delete (line[0] === "-" ? chains : realms)[rest];
      crossing.at++;
    }
  }
  return crossing.told;
}

/** Begins a run; answers how many contexts it took. */
function begin(names, from) {
  const count = names.length - 1;
  const chain = { __proto__: null, way: undefined, report: undefined, failures: "" };
  const hooks = [];
  for (let at = 0; at < count; at++) {
    const { hook, chain: toChain } = realms[names[at + 1]];
    try {
      hooks[at] = hook(crossing.lines[from + at]);
    } catch (error) {
      // Its place is kept, so that the others are told apart.
      hooks[at] = () => undefined;
      chain.failures += `${chain.failures === "" ? "" : "\t"}${at}:${toReport(error)}`;
    }
    chain.toChain ??= toChain;
  }
  chain.way = apply(chain.toChain, undefined, hooks);
  chains[names[0]] = chain;
  return count;
}

function push(run, batch, step) {
  const chain = chains[run];
  if (!chain) {
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
