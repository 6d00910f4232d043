import type { TextPlace } from "#plugins/files/service.ts";

/** A stretch of a text that belongs together: passages do not reach over its ends. */
export interface Section {
  readonly start: number;
  readonly end: number;
  readonly place: TextPlace | undefined;
  /** Titles above it, from the outermost. */
  readonly headings: readonly string[];
}

/** Cuts a text where a page, a sheet or a part begins and, in Markdown, at each heading. */
export function toSections(text: string, places: readonly TextPlace[], hasHeadings: boolean): Section[] {
  const headings = hasHeadings ? findHeadings(text) : [];
  const starts = [...new Set([0, ...places.map(({ start }) => start), ...headings.map(({ start }) => start)])]
    .filter((start) => start >= 0 && start < text.length)
    .toSorted((a, b) => a - b);
  const path: Heading[] = [];
  let [nextPlace, nextHeading] = [0, 0];
  let place: TextPlace | undefined;
  return starts.map((start, index) => {
    for (; (places[nextPlace]?.start ?? Infinity) <= start; nextPlace += 1) {
      place = places[nextPlace];
    }
    for (; (headings[nextHeading]?.start ?? Infinity) <= start; nextHeading += 1) {
      const heading = headings[nextHeading] as Heading;
      while ((path.at(-1)?.level ?? 0) >= heading.level) {
        path.pop();
      }
      path.push(heading);
    }
    return {
      start,
      end: starts[index + 1] ?? text.length,
      place,
      headings: path.map(({ title }) => title),
    };
  });
}

interface Heading {
  readonly start: number;
  readonly level: number;
  readonly title: string;
}

const maxTitle = 200;

/** The `#` headings of Markdown outside fenced code. */
function findHeadings(text: string): Heading[] {
  const found: Heading[] = [];
  let fence: string | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const mark = /^ {0,3}(```|~~~)/.exec(text.slice(start, Math.min(end, start + 8)))?.[1];
    if (mark !== undefined && (fence === undefined || fence === mark)) {
      fence = fence === undefined ? mark : undefined;
    } else if (fence === undefined && text[start] === "#") {
      const line = text.slice(start, Math.min(end, start + maxTitle));
      const level = /^#{1,6}(?=\s)/.exec(line)?.[0].length;
      const title = level === undefined ? "" : line.slice(level).trim();
      if (level !== undefined && title !== "") {
        found.push({ start, level, title });
      }
    }
    start = end + 1;
  }
  return found;
}

/**
 * Joins sections that are smaller than `minimum` with the next of the same place, as long as both together stay
 * within `maximum` (CHUNK_MIN_SIZE_TARGET). `sizeOf` measures a range.
 */
export function joinSmall(
  sections: readonly Section[],
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  sizeOf: (from: number, to: number) => number,
): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      last.place === section.place &&
      sizeOf(last.start, last.end) < minimum &&
      sizeOf(last.start, section.end) <= maximum
    ) {
      joined[joined.length - 1] = { ...last, end: section.end };
    } else {
      joined.push(section);
    }
  }
  return joined;
}
