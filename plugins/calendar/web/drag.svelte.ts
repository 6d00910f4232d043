import { addDays } from "./dates.ts";
import type { Occurrence } from "./events.svelte.ts";
import { isMovable, type Move, stepMinutes } from "./moving.ts";
import { atMinutes, minutesOfDay } from "./wall-clock.ts";

interface Frame {
  days(): readonly Date[];
  columns(): HTMLElement | undefined;
  /** Pixels of one minute. */
  readonly minuteHeight: number;
  oncreate(start: Date, end: Date): void;
  onmove(move: Move): void;
}

/** The part of a day that is being drawn, in minutes from midnight. */
interface Drawn {
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

const minuteMs = 60_000;
const dayMinutes = 1_440;
/** Pixels below which a press is a click. */
const threshold = 5;

/** Drawing, moving and lengthening with the mouse or a pen; fingers scroll. */
export class Drag {
  drawn = $state.raw<Drawn>();
  #held = $state.raw<{ key: string; start: Date; end: Date | undefined }>();
  /** True right after a drag: the click that ends it opens nothing. */
  hasMoved = false;
  readonly #frame: Frame;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  isDragged({ key }: Occurrence): boolean {
    return this.#held?.key === key;
  }

  /** Times of an occurrence, while it is dragged those that it would get. */
  shownTimes(occurrence: Occurrence): { readonly start: Date; readonly end: Date | undefined } {
    return this.#held?.key === occurrence.key ? this.#held : occurrence;
  }

  draw(event: PointerEvent, column: number): void {
    if (event.target !== event.currentTarget || !isDragging(event)) {
      return;
    }
    const first = this.#minutesAt(event);
    this.#follow(event, {
      onmove: (now) => {
        const last = this.#minutesAt(now);
        const [from, to] = first <= last ? [first, last] : [last, first];
        this.drawn = { column, from, to: Math.max(to, from + stepMinutes) };
      },
      onend: () => {
        const { from, to } = this.drawn ?? { from: first, to: first + 60 };
        this.drawn = undefined;
        this.#frame.oncreate(this.#moment(column, from), this.#moment(column, Math.min(to, dayMinutes)));
      },
      oncancel: () => (this.drawn = undefined),
    });
  }

  /** A finger scrolls, so it draws nothing; where it taps, an event of an hour begins. */
  tap(event: MouseEvent, column: number): void {
    if (
      event.target === event.currentTarget &&
      event instanceof PointerEvent &&
      event.pointerType === "touch"
    ) {
      const from = Math.floor(this.#minutesAt(event) / 60) * 60;
      this.#frame.oncreate(this.#moment(column, from), this.#moment(column, Math.min(from + 60, dayMinutes)));
    }
  }

  take(event: PointerEvent, occurrence: Occurrence, how: "move" | "resize"): void {
    if (!isMovable(occurrence) || !isDragging(event)) {
      return;
    }
    event.stopPropagation();
    const [first, column] = [this.#minutesAt(event), this.#columnAt(event)];
    const { key, start, end } = occurrence;
    this.hasMoved = false;
    this.#follow(event, {
      onmove: (now) => {
        this.hasMoved = true;
        const minutes = this.#minutesAt(now) - first;
        const days = how === "move" ? this.#columnAt(now) - column : 0;
        const shift = (date: Date) => onClock(addDays(date, days), date, minutes);
        const last = end ?? new Date(start.getTime() + 30 * minuteMs);
        const least = start.getTime() + stepMinutes * minuteMs;
        this.#held =
          how === "move"
            ? { key, start: shift(start), end: end && shift(end) }
            : { key, start, end: new Date(Math.max(shift(last).getTime(), least)) };
      },
      onend: () => {
        const held = this.#held;
        this.#held = undefined;
        if (held && this.hasMoved) {
          this.#frame.onmove({ occurrence, start: held.start, end: held.end });
        }
        // The click comes after this.
        setTimeout(() => (this.hasMoved = false));
      },
      oncancel: () => (this.#held = undefined),
    });
  }

  #follow(
    { pointerId, clientX, clientY }: PointerEvent,
    told: { onmove(now: PointerEvent): void; onend(): void; oncancel(): void },
  ): void {
    let isMoving = false;
    const stop = new AbortController();
    const { signal } = stop;
    const isOurs = (now: PointerEvent) => now.pointerId === pointerId;
    addEventListener(
      "pointermove",
      (now) => {
        isMoving ||= Math.hypot(now.clientX - clientX, now.clientY - clientY) > threshold;
        if (isOurs(now) && isMoving) {
          told.onmove(now);
        }
      },
      { signal },
    );
    addEventListener("pointerup", (now) => isOurs(now) && (stop.abort(), told.onend()), { signal });
    addEventListener("pointercancel", () => (stop.abort(), told.oncancel()), { signal });
    addEventListener("keydown", ({ key }) => key === "Escape" && (stop.abort(), told.oncancel()), { signal });
  }

  #minutesAt({ clientY }: PointerEvent): number {
    const top = this.#frame.columns()?.getBoundingClientRect().top ?? 0;
    const minutes = (clientY - top) / this.#frame.minuteHeight;
    return Math.min(Math.max(Math.round(minutes / stepMinutes) * stepMinutes, 0), dayMinutes);
  }

  #columnAt({ clientX }: PointerEvent): number {
    const { left = 0, width = 1 } = this.#frame.columns()?.getBoundingClientRect() ?? {};
    const count = this.#frame.days().length;
    return Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1);
  }

  #moment(column: number, minutes: number): Date {
    return atMinutes(this.#frame.days()[column] as Date, minutes);
  }
}

const isDragging = ({ button, pointerType }: PointerEvent): boolean =>
  button === 0 && pointerType !== "touch";

/** A day with the time of the clock of another moment, some minutes later. */
const onClock = (day: Date, time: Date, minutes: number): Date =>
  atMinutes(day, minutesOfDay(time) + minutes);
