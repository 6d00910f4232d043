// The runs of one owner that stream now. All batches that wait cross the border together: entering an isolate and watching
// its time costs more than a usual hook does.
const chains = { __proto__: null };
let last = 0;
/** The crossing that runs: its lines, the place in them, and what is answered so far. */
let crossing;

/** Takes the chain of a run (inside/chain.js) and answers its number. Only texts go to it and come back. */
function openChain(chain) {
  last++;
  chains[last] = chain;
  return last;
}

function closeChain(id) {
  delete chains[id];
}

/** Lines of a run's number and a batch in turn; the answer has a line of failures and the batch for each. */
function cross(text) {
  crossing = { __proto__: null, lines: apply(split, text, ["\n"]), at: 0, told: "" };
  return go("push");
}

const resume = () => go("resume");
const retry = () => go("retry");

/** The place of the batch and of the hook that ran when the host broke the crossing off. */
const where = () => `${crossing.at / 2}:${chains[crossing.lines[crossing.at]]?.where() ?? 0}`;

function go(first) {
  const { lines } = crossing;
  for (let step = first; crossing.at < lines.length; crossing.at += 2, step = "push") {
    const chain = chains[lines[crossing.at]];
    const batch = lines[crossing.at + 1];
    let answer = `\n${batch}`;
    if (chain) {
      try {
        answer = chain[step](batch);
      } catch (error) {
        // No hook's own failure, which the chain catches: nothing of it can be relied on any more.
        answer = `:${chain.toReport(error)}\n${batch}`;
        delete chains[lines[crossing.at]];
      }
    }
    crossing.told += crossing.told === "" ? answer : `\n${answer}`;
  }
  return crossing.told;
}
