import type { Browser } from "playwright-core";
import { moveDate } from "./move-date.mjs";

// The clock of a test run. `npm run test:dates` lets every suite begin at a moment that it names; without one, these
// functions leave the machine's clock alone.

interface MovedClock {
  shift: number;
  machineNow(): number;
}

const { movedClock: clock } = globalThis as { movedClock?: MovedClock };

/** Lets the suite that begins begin at the run's moment, in this process and in those that it starts. */
export function beginAtMoment(): void {
  const moment = process.env["TEST_MOMENT"];
  if (clock === undefined || moment === undefined) {
    return;
  }
  clock.shift = Date.parse(moment) - clock.machineNow();
  process.env["TEST_CLOCK_SHIFT"] = String(clock.shift);
}

/** Variables that give a process with an environment of its own the clock and the zone of this one. */
export function clockVariables(): Record<string, string> {
  const names = ["NODE_OPTIONS", "TEST_CLOCK_SHIFT", "TZ"];
  return clock === undefined
    ? {}
    : Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Gives pages of this browser the clock of this process. */
export function moveClockOfPages(browser: Browser): Browser {
  if (clock === undefined) {
    return browser;
  }
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    const { shift } = clock;
    await context.addInitScript(`(${moveDate.toString()})({ shift: ${shift} })`);
    return context;
  };
  return browser;
}
