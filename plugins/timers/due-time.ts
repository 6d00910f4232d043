import { fromAbsolute } from "@internationalized/date";
import { z } from "zod";
import { parseDuration } from "#config/parse.ts";
import { AppError } from "#kernel/errors.ts";

const longestText = 60;
const daysAhead = 366;
const dayMs = 86_400_000;

/** RFC 3339 with its zone. */
const Absolute = z.iso.datetime({ offset: true });

/** Letters of `parseDuration` for the words that models use. */
const unitOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    s: ["sec", "secs", "second", "seconds"],
    m: ["min", "mins", "minute", "minutes"],
    h: ["hr", "hrs", "hour", "hours"],
    d: ["day", "days"],
    w: ["week", "weeks"],
    "": ["and", "in", "pt"],
  }).flatMap(([letter, words]) => words.map((word) => [word, letter])),
);

/**
 * Reads when a timer is due, in epoch seconds, rounded up: an offset such as `10m`, `+1h30m`, `in 2 hours` or `PT90S`,
 * or a moment of RFC 3339 with its zone (contract §9). Throws `invalid` for everything else, for what has passed, and
 * for what lies more than 366 days ahead.
 */
export function readDueTime(given: unknown, nowMs: number): number {
  const text = typeof given === "string" ? given.trim() : "";
  const now = new Date(nowMs).toISOString();
  if (text === "" || text.length > longestText) {
    throw new AppError("invalid", `at: must be ${forms}.`);
  }
  const dueMs = readAbsolute(text, now) ?? nowMs + readOffset(text);
  if (dueMs <= nowMs) {
    throw new AppError("invalid", `at: ${text} has passed; it is ${now} now.`);
  }
  if (dueMs > nowMs + daysAhead * dayMs) {
    throw new AppError("invalid", `at: must lie at most ${daysAhead} days ahead; it is ${now} now.`);
  }
  return Math.ceil(dueMs / 1_000);
}

const forms =
  "an offset such as 90s, 10m or 1h30m, or a moment with its time zone such as 2031-05-06T07:00:00+02:00";

function readAbsolute(text: string, now: string): number | undefined {
  if (!/^\d{4}-\d/.test(text)) {
    return undefined;
  }
  // RFC 3339 allows small letters.
  const upper = text.toUpperCase();
  if (Absolute.safeParse(upper).success) {
    return Date.parse(upper);
  }
  const isLocal = Absolute.safeParse(`${upper}Z`).success;
  throw new AppError(
    "invalid",
    isLocal
      ? `at: ${text} lacks a time zone such as Z or +02:00; it is ${now} now.`
      : `at: ${text} is no moment of RFC 3339 such as 2031-05-06T07:00:00+02:00.`,
  );
}

function readOffset(text: string): number {
  const short = text
    .toLowerCase()
    .replace(/^\+/, "")
    .replace(/[a-z]+/g, (word) => unitOf[word] ?? word)
    .replaceAll(",", " ");
  const { value, problem } = parseDuration(short) as { value?: { ms: number | null }; problem?: string };
  if (problem !== undefined || !value?.ms) {
    throw new AppError("invalid", `at: ${JSON.stringify(text)} is not ${forms}.`);
  }
  return value.ms;
}

/** A moment as a clock in the zone shows it, with the zone's distance from UTC. */
export const toIso = (epochSeconds: number, zone: string): string =>
  fromAbsolute(epochSeconds * 1_000, zone)
    .toString()
    // RFC 3339 does not know the name of the zone.
    .replace(/\[[^[]*$/, "");
