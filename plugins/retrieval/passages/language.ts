/** Text search configurations of Postgres, by ISO 639-1. */
const configurations: Readonly<Record<string, string>> = {
  ar: "arabic",
  hy: "armenian",
  eu: "basque",
  ca: "catalan",
  da: "danish",
  nl: "dutch",
  en: "english",
  et: "estonian",
  fi: "finnish",
  fr: "french",
  de: "german",
  el: "greek",
  hi: "hindi",
  hu: "hungarian",
  is: "simple",
  it: "italian",
  lt: "lithuanian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  es: "spanish",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/** Every configuration that a source can have. */
export const knownConfigurations: ReadonlySet<string> = new Set(["simple", ...Object.values(configurations)]);

const sampled = 4_000;

/** The text search configuration of a text's language; `simple` for short texts and other languages. */
export async function detectConfiguration(text: string): Promise<string> {
  const { eld } = await import("eld/extrasmall");
  const found = eld.detect(text.slice(0, sampled));
  return (found.isReliable() && configurations[found.language]) || "simple";
}

/** Scripts written without spaces, and Hangul, whose words change their endings: pairs of signs are searched. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;

/**
 * A text as it is put into the index and into queries: one form of each sign, lower case whatever the database's
 * locale, and runs of unspaced scripts as overlapping pairs.
 */
export function toSearchText(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll("\u0000", " ").replaceAll(unspaced, toPairs);
}

function toPairs(run: string): string {
  const signs = [...run];
  const pairs = signs.slice(1).map((sign, index) => (signs[index] as string) + sign);
  return ` ${signs.length === 1 ? run : pairs.join(" ")} `;
}
