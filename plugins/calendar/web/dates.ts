import { language } from "#plugins/web/kit/i18n/index.svelte.ts";

// Days and times stand on the clock of this browser.

/** Milliseconds of epoch nanoseconds, as the server sends them. */
export const toMs = (nanoseconds: number | bigint): number => Math.round(Number(nanoseconds) / 1e6);
/** Epoch nanoseconds of milliseconds; exact, since milliseconds are whole. */
export const toNs = (milliseconds: number): number => milliseconds * 1e6;

export const startOfDay = (date: Date): Date => new Date(date.getFullYear(), date.getMonth(), date.getDate());
export const addDays = (date: Date, days: number): Date =>
  new Date(date.getFullYear(), date.getMonth(), date.getDate() + days);
export const addMonths = (date: Date, months: number): Date =>
  new Date(date.getFullYear(), date.getMonth() + months, 1);
export const isSameDay = (one: Date, other: Date): boolean => one.toDateString() === other.toDateString();

/** Whole weeks that hold the month of a date, from the first day of the week of the language. */
export function daysOfMonth(date: Date): Date[] {
  const first = new Date(date.getFullYear(), date.getMonth(), 1);
  const before = (first.getDay() - firstWeekday() + 7) % 7;
  const last = new Date(date.getFullYear(), date.getMonth() + 1, 0);
  const count = Math.ceil((before + last.getDate()) / 7) * 7;
  return Array.from({ length: count }, (_, at) => addDays(first, at - before));
}

/** The week that holds a date. */
export function daysOfWeek(date: Date): Date[] {
  const before = (date.getDay() - firstWeekday() + 7) % 7;
  return Array.from({ length: 7 }, (_, at) => addDays(date, at - before));
}

/** 0 for Sunday, 1 for Monday. */
function firstWeekday(): number {
  const locale = new Intl.Locale(language.locale) as Intl.Locale & {
    getWeekInfo?(): { firstDay: number };
  };
  return (locale.getWeekInfo?.().firstDay ?? 1) % 7;
}

const pad = (value: number) => String(value).padStart(2, "0");
/** The value of a time input. */
export const toTimeInput = (date: Date): string => `${pad(date.getHours())}:${pad(date.getMinutes())}`;
/** Undefined while the inputs say no moment. */
export function fromInputs(date: string, time: string): Date | undefined {
  const moment = new Date(`${date}T${time || "00:00"}`);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

export const formatDay = (date: Date, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(language.locale, options).format(date);

/** The time of day for narrow places: "9 AM", and "09:30" where the clock has 24 hours. */
export function shortTime(date: Date): string {
  const { hour12 } = new Intl.DateTimeFormat(language.locale, { timeStyle: "short" }).resolvedOptions();
  return formatDay(date, hour12 && date.getMinutes() === 0 ? { hour: "numeric" } : { timeStyle: "short" });
}
