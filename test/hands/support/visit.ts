import type { Page } from "playwright-core";
import { openPage, type OpenOptions } from "#test/support/interface.ts";
import { listPages, type Place } from "./pages.ts";
import { isInPart, partInWords, type Seat, seats } from "./part.ts";
import type { Person, Platform } from "./platform.ts";
import { followTraffic, type Traffic } from "./settle.ts";

export interface Visitor {
  readonly page: Page;
  readonly traffic: Traffic;
  /** Requests that the server refused since the last call, as `METHOD /path: status`. */
  takeRefused(): readonly string[];
  /** Opens an address anew, and waits until it is shown. */
  open(path: string): Promise<void>;
  close(): Promise<void>;
}

/** A window of somebody who visits pages; it stands on a page with a list. */
export async function startVisit(
  { browser, url }: Platform,
  options: Pick<OpenOptions, "token" | "size" | "theme">,
): Promise<Visitor> {
  const { page, failedRequests, close } = await openPage(browser, { url, path: start, ...options });
  // Faults are gathered: a step that hangs must not use up the time of the others.
  page.setDefaultTimeout(20_000);
  const traffic = followTraffic(page);
  return {
    page,
    traffic,
    takeRefused: () =>
      failedRequests
        .splice(0)
        .filter((line) => /: \d{3}$/.test(line))
        .map((line) => line.replace(url, "")),
    async open(path) {
      await page.goto(url + path);
      await traffic.settle();
    },
    close,
  };
}

const start = "/archived";

/** What a suite looks at on each page: it answers with what is wrong there. */
export type Look = (visitor: Visitor, place: Place) => Promise<readonly string[]>;

/** Gives the account that sits in a seat of this role; each of those that walk at the same time asks for its own. */
export type Seating = (role: Seat["role"]) => Promise<Person>;

interface VisitOptions {
  readonly seating?: Seating;
  /** The seats that a page is visited from. */
  readonly from?: readonly Seat[];
}

interface Stop {
  readonly pattern: string;
  readonly from: readonly Seat[];
}

/** Visits the pages of this part, two at a time and no page twice at the same time, and gathers what is wrong with them. */
export async function visitAll(
  platform: Platform,
  what: string,
  look: Look,
  { seating = platform.resident, from = seats }: VisitOptions = {},
): Promise<readonly string[]> {
  const places = await listPages(platform, platform.admin);
  const stops = places
    .map(({ pattern, isAdministrators }, at): Stop => {
      const allowed = from.filter(({ role }) => role === "admin" || !isAdministrators);
      return { pattern, from: allowed.filter((seat) => isInPart(at, seat)) };
    })
    .filter(({ from }) => from.length > 0);
  process.stdout.write(`${what}: ${partInWords}; ${stops.length} of ${places.length} pages\n`);
  const left = [...stops];
  const walks = [1, 2].map(async () => await walk(platform, () => left.shift(), look, seating));
  const walked = await Promise.all(walks);
  process.stdout.write(`${what}: ${walked.reduce((sum, { visits }) => sum + visits, 0)} visits\n`);
  return walked.flatMap(({ faults }) => faults).toSorted();
}

interface Walked {
  readonly visits: number;
  readonly faults: readonly string[];
}

async function walk(
  platform: Platform,
  next: () => Stop | undefined,
  look: Look,
  seating: Seating,
): Promise<Walked> {
  const windows = createWindows(platform, seating);
  const faults: string[] = [];
  let visits = 0;
  for (let stop = next(); stop; stop = next()) {
    for (const seat of stop.from) {
      const { visitor, places } = await windows.of(seat);
      const place = places.get(stop.pattern);
      if (place === undefined) {
        continue;
      }
      visits += 1;
      const found = await look(visitor, place).catch((error: unknown) => [
        String(error).split("\n").slice(0, 3).join(" "),
      ]);
      const label = `${stop.pattern} (${seat.role}, ${seat.size}, ${seat.theme})`;
      const told = found.map((fault) => `${label}: ${fault}`);
      faults.push(...told);
      // A whole round takes long: the first faults are known at once.
      process.stdout.write(told.map((fault) => `  ${fault}\n`).join(""));
    }
  }
  faults.push(...(await windows.close()));
  return { visits, faults };
}

interface Window {
  readonly visitor: Visitor;
  /** What the account can open, by the pattern of the page. */
  readonly places: ReadonlyMap<string, Place>;
}

/** The windows of one who walks: one for each seat, opened when it is first needed. */
function createWindows(platform: Platform, seating: Seating) {
  const people = new Map<Seat["role"], Promise<Person>>();
  const opened = new Map<Seat, Promise<Window>>();
  const open = async (seat: Seat): Promise<Window> => {
    const person = people.get(seat.role) ?? seating(seat.role);
    people.set(seat.role, person);
    const { token } = await person;
    const places = await listPages(platform, await person);
    const visitor = await startVisit(platform, { token, size: seat.size, theme: seat.theme });
    return { visitor, places: new Map(places.map((place) => [place.pattern, place])) };
  };
  return {
    of(seat: Seat): Promise<Window> {
      const window = opened.get(seat) ?? open(seat);
      opened.set(seat, window);
      return window;
    },
    /** What the pages did that they should not. */
    async close(): Promise<readonly string[]> {
      const closed = await Promise.allSettled(
        [...opened.values()].map(async (window) => await (await window).visitor.close()),
      );
      return closed.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    },
  };
}

/** Goes to an address as a link of the page does, so that Back leads here. */
export async function follow({ page, traffic }: Visitor, path: string): Promise<void> {
  await page.evaluate(`(() => {
    const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(path)}, textContent: "There", id: "there" });
    link.style.cssText = "position: fixed; top: 0; left: 50%; z-index: 1000; background: white";
    document.querySelector("#there")?.remove();
    document.body.append(link);
  })()`);
  await page.locator("#there").click();
  await page.evaluate(`document.querySelector("#there")?.remove()`);
  await traffic.settle();
}
