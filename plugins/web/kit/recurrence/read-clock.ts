/** The part of a text that was not yet understood. */
export class Reader {
  rest: string;

  constructor(text: string) {
    this.rest = text.toLowerCase().replace(/\s+/g, " ").trim();
  }

  take(pattern: RegExp): string[] | undefined {
    const match = pattern.exec(this.rest);
    if (match === null) {
      return undefined;
    }
    this.rest = `${this.rest.slice(0, match.index)} ${this.rest.slice(match.index + match[0].length)}`
      .replace(/\s+/g, " ")
      .trim();
    return match.map((group) => group ?? "");
  }

  takeAll(pattern: RegExp): string[][] {
    const found: string[][] = [];
    for (let match = this.take(pattern); match !== undefined; match = this.take(pattern)) {
      found.push(match);
    }
    return found;
  }
}

const months = "january|february|march|april|may|june|july|august|september|october|november|december".split(
  "|",
);
const german = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember".split(
  "|",
);
export const monthWords = [
  ...months,
  ...german,
  ...months.map((name) => name.slice(0, 3)),
  "sept",
  "okt",
  "dez",
].join("|");
export function toMonth(word: string): number {
  const at = [months, german].map((names) => names.findIndex((name) => name.startsWith(word)));
  return Math.max(...at) + 1;
}

const iso = /(\d{4})-(\d\d)-(\d\d)/.source;
const dotted = /(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})/.source;
const dayFirst = `(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s(?:of\\s)?(${monthWords})\\.?,?\\s(\\d{4})`;
const monthFirst = `(${monthWords})\\.?\\s(\\d{1,2})(?:st|nd|rd|th)?,?\\s(\\d{4})`;

/** `YYYY-MM-DD` of a date with its year; undefined where there is none, and for the 31st of June. */
export function takeDate(reader: Reader, before: string): string | undefined {
  const forms: [string, (match: string[]) => [string, number | string, string]][] = [
    [iso, ([, year, month, day]) => [year as string, month as string, day as string]],
    [dotted, ([, day, month, year]) => [year as string, month as string, day as string]],
    [dayFirst, ([, day, month, year]) => [year as string, toMonth(month as string), day as string]],
    [monthFirst, ([, month, day, year]) => [year as string, toMonth(month as string), day as string]],
  ];
  for (const [form, order] of forms) {
    const pattern = new RegExp(`${before}${form}(?!\\d)`);
    const match = pattern.exec(reader.rest);
    const date =
      match === null
        ? ""
        : order([...match])
            .map((part, at) => String(part).padStart(at === 0 ? 4 : 2, "0"))
            .join("-");
    const moment = new Date(`${date}T00:00:00Z`);
    if (!Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date)) {
      reader.take(pattern);
      return date;
    }
  }
  return undefined;
}

const and = String.raw`\s?(?:,\s?(?:and|und)?|and|und|&)\s?`;
const english = String.raw`(?:\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b\.?|o'clock)?|noon|midnight)(?![\d:])`;
const germanTime = String.raw`(?:\d{1,2}(?:[:.]\d\d)?(?:\s?uhr)?|mitternacht)(?![\d:])`;

/** Times of the day as `HH:MM`; undefined for one that no clock shows. */
export function takeTimes(reader: Reader): string[] | undefined {
  const match =
    reader.take(new RegExp(`\\bat\\s(${english}(?:${and}(?:at\\s)?${english}(?!\\.|st|nd|rd|th))*)`)) ??
    reader.take(new RegExp(`\\bum\\s(${germanTime}(?:${and}(?:um\\s)?${germanTime}(?!\\.))*)`));
  if (match === undefined) {
    return [];
  }
  const texts =
    (match[1] as string).match(/noon|midnight|mitternacht|\d{1,2}(?:[:.]\d\d)?(?:\s?[ap]\.?m)?/g) ?? [];
  const times = texts.map(toTime);
  return times.includes(undefined) ? undefined : [...new Set(times as string[])].toSorted();
}

function toTime(text: string): string | undefined {
  if (!/^\d/.test(text)) {
    return text === "noon" ? "12:00" : "00:00";
  }
  const [, hours = "", minutes = "00", half = ""] = /^(\d{1,2})(?:[:.](\d\d))?\s?([ap])?/.exec(text) ?? [];
  const isTwelve = Number(hours) === 12;
  const hour = half === "" ? Number(hours) : (isTwelve ? 0 : Number(hours)) + (half === "p" ? 12 : 0);
  const isSound =
    hour < 24 && Number(minutes) < 60 && (half === "" || (Number(hours) >= 1 && Number(hours) <= 12));
  return isSound ? `${String(hour).padStart(2, "0")}:${minutes}` : undefined;
}
