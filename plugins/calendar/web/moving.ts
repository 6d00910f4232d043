import { server } from "#plugins/web/kit/server.ts";
import { addDays, toNs } from "./dates.ts";
import type { Occurrence } from "./events.svelte.ts";

/** The part of a series that a move is for. */
export type Scope = "this" | "following" | "all";

/** Times that an occurrence is to have. */
export interface Move {
  readonly occurrence: Occurrence;
  readonly start: Date;
  readonly end: Date | undefined;
}

const minuteMs = 60_000;
/** Steps of the mouse and of the keys. */
export const stepMinutes = 15;

export const isSeries = ({ event }: Occurrence): boolean => event.rrule !== null;
export const isMovable = ({ event }: Occurrence): boolean => event.write_access;

/** Stores a move. Throws what the server says. */
export async function storeMove({ occurrence, start, end }: Move, scope: Scope): Promise<void> {
  const body = {
    start_at: toNs(start.getTime()),
    ...(end !== undefined && { end_at: toNs(end.getTime()) }),
    ...(isSeries(occurrence) && { scope, instance_start: toNs(occurrence.start.getTime()) }),
  };
  await server.call("POST /api/v1/calendars/events/:id/update", {
    params: { id: occurrence.event.id },
    body,
  });
}

/** The occurrence on another day at the same time of the clock. */
export function toDay(occurrence: Occurrence, days: number): Move {
  const shift = (date: Date) => {
    const day = addDays(date, days);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate(), date.getHours(), date.getMinutes());
  };
  return { occurrence, start: shift(occurrence.start), end: occurrence.end && shift(occurrence.end) };
}

/** The move of a key: Alt and arrows move by days or steps, with Shift up and down change the length. */
export function moveOfKey(
  { key, altKey, shiftKey }: KeyboardEvent,
  occurrence: Occurrence,
  upDays?: number,
): Move | undefined {
  const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!altKey || !isMovable(occurrence) || (across ?? down) === undefined) {
    return undefined;
  }
  if (across !== undefined) {
    return toDay(occurrence, across);
  }
  if (upDays !== undefined || occurrence.event.all_day) {
    return upDays === undefined ? undefined : toDay(occurrence, upDays * (down as number));
  }
  const by = (down as number) * stepMinutes * minuteMs;
  const { start, end = new Date(start.getTime() + 2 * stepMinutes * minuteMs) } = occurrence;
  const later = new Date(end.getTime() + by);
  if (shiftKey) {
    return later > start ? { occurrence, start, end: later } : undefined;
  }
  return { occurrence, start: new Date(start.getTime() + by), end: occurrence.end && later };
}
