const advice = "set a random one, for example from: openssl rand -hex 32";
const shortest = 16;
/** Characters that have to remain once well-known words and sequences are removed from a key. */
const leastLeft = 8;
const leastDistinct = 5;

const wellKnown = new Set(["t0ps3cr3t", "secret", "yoursecretkey", "yoursecretkeyhere", "supersecretkey"]);
const placeholder = /^(change|replace)(me|it|this)/;
const guessed =
  /change|replace|please|your|super|very|top|s[e3]cr[e3]t|passw(or)?d|admin|default|example|insecure|webui|chatgpt|openai|key|token|jwt|qwerty|letmein/g;

/** Why `key` may not sign sessions, in words that follow its name; undefined when it may. Contract D.10. */
export function findKeyProblem(key: string): string | undefined {
  const letters = key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  if (wellKnown.has(letters) || placeholder.test(letters)) {
    return `is a well-known value; ${advice}`;
  }
  if (key.length < shortest) {
    return `is shorter than ${shortest} characters; ${advice}`;
  }
  return isGuessable(key, letters) ? `is easy to guess; ${advice}` : undefined;
}

/** True for words that keys are made of by hand, repeated texts and sequences. */
function isGuessable(key: string, letters: string): boolean {
  const left = withoutSequences(letters.replaceAll(guessed, ""));
  const rare = key.length - letters.length;
  const words = new Set(key.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  return (
    new Set(key).size < leastDistinct ||
    periodOf(key) < shortest ||
    periodOf([...words].join("")) + rare < shortest ||
    left.length + rare < leastLeft
  );
}

/** The length of the shortest text of which `text` is made by repeating it; the last time may be cut off. */
function periodOf(text: string): number {
  for (let period = 1; period <= text.length / 2; period++) {
    if (text.slice(period) === text.slice(0, -period)) {
      return period;
    }
  }
  return text.length;
}

/** The text with runs such as `1234` or `dcba` shortened to their first character. */
function withoutSequences(text: string): string {
  let left = "";
  for (let start = 0; start < text.length;) {
    const end = sequenceEnd(text, start);
    left += end - start >= 4 ? text[start] : text.slice(start, end);
    start = end;
  }
  return left;
}

function sequenceEnd(text: string, start: number): number {
  const step = text.charCodeAt(start + 1) - text.charCodeAt(start);
  let end = start + 1;
  while (Math.abs(step) === 1 && text.charCodeAt(end) - text.charCodeAt(end - 1) === step) {
    end++;
  }
  return end;
}
