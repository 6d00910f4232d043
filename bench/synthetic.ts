/** Numbers between 0 and 1 that repeat with each run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/**
 * Makes unit vectors that gather round centres, as those of real texts do: among vectors without any order nothing is
 * near to anything, and no index could tell.
 */
export function createVectors(dimensions: number, random: () => number): () => Float32Array {
  const gauss = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: 400 }, () => Float32Array.from({ length: dimensions }, gauss));
  return () => {
    const centre = centres[Math.floor(random() * centres.length)] as Float32Array;
    const raw = centre.map((value) => value + 0.7 * gauss());
    const length = Math.hypot(...raw);
    return raw.map((value) => value / length);
  };
}

const syllables = "ba de fo gu ha ki lo mu na pe qui ro sa tu ve wi xo ya zu or".split(" ");

/** Makes sentences whose words are as rare and as common as in real texts: the n-th word comes one n-th as often. */
export function createSentences(random: () => number): (words: number) => string {
  const vocabulary = Array.from({ length: 20_000 }, (_, at) =>
    Array.from({ length: 2 + (at % 3) }, (_, place) => syllables[Math.floor(at / 20 ** place) % 20]).join(""),
  );
  const word = () => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? "mill";
  return (words) => Array.from({ length: words }, word).join(" ");
}

/** The middle of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
