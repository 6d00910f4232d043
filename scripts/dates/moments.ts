import { Temporal } from "temporal-polyfill";

export interface Moment {
  readonly name: string;
  readonly zone: string;
  /** When the suites begin, such as `2027-02-28T22:58:00Z`. */
  readonly at: string;
}

export const zones = ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati"] as const;

type Local = Temporal.PlainDateTime;

/** The moments that code about dates gets wrong, each the next one in its zone that is still to come. */
const moments: Readonly<Record<string, (zone: string, now: Temporal.Instant) => Temporal.Instant>> = {
  saturday: nextLocal("23:58", ({ dayOfWeek }) => dayOfWeek === 6),
  "28-february": nextLocal(
    "23:58",
    ({ month, day, daysInYear }) => month === 2 && day === 28 && daysInYear === 365,
  ),
  "29-february": nextLocal("23:58", ({ month, day }) => month === 2 && day === 29),
  "31-december": nextLocal("23:58", ({ month, day }) => month === 12 && day === 31),
  "clocks-forward": nextChange(3),
  "clocks-back": nextChange(10),
  "first-of-month": nextLocal("00:02", ({ day }) => day === 1),
  // The month after it has no such day.
  "31-january": nextLocal("12:00", ({ month, day }) => month === 1 && day === 31),
  monday: nextLocal("12:00", ({ dayOfWeek }) => dayOfWeek === 1),
  // Two minutes before the seconds no longer fit into 32 bits.
  "32-bits": () => Temporal.Instant.from("2038-01-19T03:12:07Z"),
};

/** As many rounds as zones: each has all moments and all zones, and together they have each moment in each zone. */
export const rounds = zones.length;

/** The moments of one round, beginning with 0, each in one zone. */
export function listRound(round: number, now = Temporal.Now.instant()): Moment[] {
  return Object.entries(moments).map(([name, find], index) => {
    const zone = zones[(index + round) % zones.length]!;
    return { name, zone, at: find(zone, now).toString() };
  });
}

/** Every moment in every zone. */
export function listMoments(now = Temporal.Now.instant()): Moment[] {
  return zones.flatMap((_, round) => listRound(round, now));
}

/** Some moments of a round, beginning with one that a number chooses; two of them are of different zones. */
export function pickMoments(all: readonly Moment[], count: number, first: number): Moment[] {
  const step = Math.floor(all.length / count);
  const picked = Array.from({ length: Math.min(count, all.length) }, (_, index) => first + index * step);
  return picked.map((at) => all[at % all.length]!);
}

function nextLocal(time: string, fits: (day: Local) => boolean) {
  return (zone: string, now: Temporal.Instant) => {
    const here = now.toZonedDateTimeISO(zone).toPlainDateTime();
    let day = here.withPlainTime(time);
    while (!fits(day) || Temporal.PlainDateTime.compare(day, here) <= 0) {
      day = day.add({ days: 1 });
    }
    return day.toZonedDateTime(zone).toInstant();
  };
}

/** Two minutes before the clocks of Berlin change: on the last Sunday of the month, at 1:00 UTC. */
function nextChange(month: number) {
  const isLastSunday = (day: Local) => day.month === month && day.dayOfWeek === 7 && day.day > 24;
  const find = nextLocal("00:58", isLastSunday);
  return (_: string, now: Temporal.Instant) => find("UTC", now);
}
