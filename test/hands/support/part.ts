import type { Size, Theme } from "#test/support/interface.ts";

/** Somebody in front of a screen. */
export interface Seat {
  readonly role: "admin" | "user";
  readonly size: Size;
  readonly theme: Theme;
}

/** Each page is visited from each of them; the administrators' pages from theirs. */
export const seats: readonly Seat[] = [
  { role: "admin", size: "desk", theme: "light" },
  { role: "user", size: "phone", theme: "light" },
  { role: "admin", size: "phone", theme: "dark" },
  { role: "user", size: "desk", theme: "dark" },
];

/** Seats without a keyboard on the screen: there a page takes the caret to its first field. */
export const deskSeats: readonly Seat[] = seats.filter(({ size }) => size === "desk");

/** What a sweep by keys visits from: the desk of the administrator alone in a part, every seat in a whole run. */
export const keySeats = (): readonly Seat[] => (isWhole ? seats : seats.slice(0, 1));

/** The part of all visits that this run makes, such as the second of eight. */
interface Part {
  readonly at: number;
  readonly of: number;
}

const part = readPart(process.env["HANDS_PART"]);

function readPart(text: string | undefined): Part {
  if (text === undefined || text === "") {
    return { at: 1, of: 1 };
  }
  const [at = Number.NaN, of = Number.NaN] = text.split("/").map(Number);
  if (!(Number.isInteger(at) && Number.isInteger(of) && at >= 1 && at <= of)) {
    throw new Error(`HANDS_PART is ${text}; it has to be such as 2/8.`);
  }
  return { at, of };
}

/** True for a run that makes every visit. */
export const isWhole = part.of === 1;

/** Whether this run visits the page of this number from this seat. Each part has all seats, and each fourth of them all pages. */
export function isInPart(page: number, seat: Seat): boolean {
  const step = Math.ceil(part.of / seats.length);
  return (page + seats.indexOf(seat) * step) % part.of === part.at - 1;
}

/** What a run says of its part, with the command that repeats it. */
export const partInWords = isWhole
  ? "all visits"
  : `part ${part.at} of ${part.of} (HANDS_PART=${part.at}/${part.of} npm run test:hands repeats it; without the variable, all)`;
