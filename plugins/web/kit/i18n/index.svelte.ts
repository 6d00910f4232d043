import { serverNow } from "../stores/server-time.ts";

/** A text of a language file: plain, or by plural form, such as `{ one, other }`. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;

export type Messages = Readonly<Record<string, Message>>;

type Values = Readonly<Record<string, string | number>>;

let loadMessages: (language: string) => Promise<Messages> = () => Promise.resolve({});

/** The language of now. English texts are their own keys, so that English needs no file. */
class Language {
  /** A BCP 47 tag, such as `de-DE`; dates and numbers follow it. */
  locale = $state("en-US");
  messages = $state.raw<Messages>({});

  /** Switches to a locale; languages without a file are shown in English. */
  async use(locale: string): Promise<void> {
    const messages = await loadMessages(new Intl.Locale(locale).language);
    this.messages = messages;
    this.locale = locale;
    document.documentElement.lang = locale;
    document.documentElement.dir = /^(ar|he|fa|ur)\b/.test(locale) ? "rtl" : "ltr";
  }
}

export const language = new Language();

/** Languages that have a file, by their own names. */
export const languages: Readonly<Record<string, string>> = { "en-US": "English", "de-DE": "Deutsch" };

/** Called once by the shell with what reads the plugins' language files. */
export function readMessagesWith(load: (language: string) => Promise<Messages>): void {
  loadMessages = load;
}

/** Translates an English text; `{name}` in it is replaced by the value of that name. */
export function t(text: string, values: Values = {}): string {
  const found = language.messages[text];
  return fill(typeof found === "string" ? found : (found?.other ?? text), values);
}

/** Chooses by `count`: `plural(2, "{count} chat", "{count} chats")`. Language files have the second text as key. */
export function plural(count: number, one: string, other: string, values: Values = {}): string {
  const form = new Intl.PluralRules(language.locale).select(count);
  const found = language.messages[other];
  const english = count === 1 ? one : other;
  const text = typeof found === "object" ? (found[form] ?? found.other ?? english) : (found ?? english);
  return fill(text, { count: formatNumber(count), ...values });
}

export const formatNumber = (value: number, options?: Intl.NumberFormatOptions): string =>
  new Intl.NumberFormat(language.locale, options).format(value);

/** A time in seconds since 1970, as a date. */
export const formatDate = (
  seconds: number,
  options: Intl.DateTimeFormatOptions = { dateStyle: "medium" },
): string => new Intl.DateTimeFormat(language.locale, options).format(seconds * 1000);

export const formatTime = (seconds: number): string =>
  formatDate(seconds, { dateStyle: "medium", timeStyle: "short" });

/** A time nearby: "10:07" today, "Tue 10:07" within a week, else the date. */
export function formatMoment(seconds: number, now = serverNow() / 1000): string {
  const isToday = new Date(seconds * 1000).toDateString() === new Date(now * 1000).toDateString();
  if (isToday) {
    return formatDate(seconds, { timeStyle: "short" });
  }
  return Math.abs(seconds - now) < 6 * 86_400
    ? formatDate(seconds, { weekday: "short", hour: "numeric", minute: "2-digit" })
    : formatDate(seconds, { dateStyle: "medium" });
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "2 hours ago", from a time in seconds since 1970. */
export function formatAgo(seconds: number, now = serverNow() / 1000): string {
  const [unit, size] = steps.find(([, one]) => Math.abs(now - seconds) >= one) ?? ["second", 1];
  const format = new Intl.RelativeTimeFormat(language.locale, { numeric: "auto" });
  return unit === "second"
    ? format.format(0, "second")
    : format.format(Math.round((seconds - now) / size), unit);
}

/** "1.2 MB" from bytes. */
export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const unit = units[power] as string;
  // The short name of this unit alone is a word, which has no plural: "310 byte".
  if (power === 0) {
    return `${formatNumber(bytes)} B`;
  }
  return formatNumber(bytes / 1000 ** power, {
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumFractionDigits: 1,
  });
}

/** "12 s" or "3 min 5 s" from seconds. */
export function formatDuration(seconds: number): string {
  const part = (value: number, unit: string) =>
    formatNumber(value, {
      style: "unit",
      unit,
      unitDisplay: "narrow",
      maximumFractionDigits: value < 10 ? 1 : 0,
    });
  const whole = Math.round(seconds);
  return seconds < 60
    ? part(seconds < 10 ? Math.round(seconds * 10) / 10 : whole, "second")
    : [part(Math.floor(whole / 60), "minute"), part(whole % 60, "second")].join(" ");
}

/** A value that ends in a dot, such as a name, ends its sentence as well. */
function fill(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}(\.(?!\.))?/g, (_whole, name: string, dot = "") => {
    const value = String(values[name] ?? `{${name}}`);
    return value.endsWith(".") ? value : value + dot;
  });
}
