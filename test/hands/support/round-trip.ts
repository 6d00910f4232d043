import type { Page } from "playwright-core";
import { change, changeBack } from "./change.ts";
import { type Control, findControls, readAgain } from "./controls.ts";
import { whyNot } from "./exceptions.ts";
import type { Traffic } from "./settle.ts";

export interface Tally {
  tried: number;
  readonly skipped: Map<string, number>;
}

export const emptyTally = (): Tally => ({ tried: 0, skipped: new Map() });

export interface Visit {
  readonly page: Page;
  readonly traffic: Traffic;
  /** The address, without the origin. */
  readonly path: string;
}

/**
 * Changes every control of the page that is open, has it saved, reads it after a reload, and sets it back. Resolves to one
 * line for each control that does not hold what was set.
 */
export async function roundTrip(visit: Visit, tally: Tally): Promise<readonly string[]> {
  const { page, traffic } = visit;
  const faults: string[] = [];
  const tell = ({ kind, name }: Control, text: string) => faults.push(`${kind} “${name}” ${text}`);
  const skip = (why: string) => tally.skipped.set(why, (tally.skipped.get(why) ?? 0) + 1);

  const changed: Control[] = [];
  for (const control of await findControls(page)) {
    const isOff = changed.length > 0 && (await readAgain(page, control))?.isDisabled === true;
    const why = isOff ? "switched off by another one that was changed" : whyNot(visit.path, control);
    if (why !== undefined) {
      skip(why);
      continue;
    }
    try {
      await change(page, control);
      await traffic.settleWrites();
      changed.push(control);
    } catch (error) {
      if (await isThere(page, control)) {
        tell(control, `cannot be used: ${String(error).split("\n")[0]}`);
      } else {
        skip("gone since another one was changed");
      }
    }
  }
  if (changed.length === 0) {
    return faults;
  }
  const set = await readAll(page);
  const tried = changed.filter((control) => {
    const isOther = set.has(keyOf(control)) && set.get(keyOf(control)) !== control.value;
    return isOther || void skip("has no other value, or is gone since another one was changed");
  });
  tally.tried += tried.length;
  await save(visit);
  faults.push(...traffic.takeRefused());
  await page.reload();
  await traffic.settle();
  const stored = await readAll(page);
  for (const control of tried) {
    const [wanted, found] = [set.get(keyOf(control)), stored.get(keyOf(control))];
    if (found !== wanted) {
      tell(control, `was ${show(control.value)}, set to ${show(wanted)}, is ${show(found)} after a reload`);
    }
  }
  await setBack(visit, changed);
  return faults;
}

/** What was hidden by another control comes back with it: the second round finds it. */
async function setBack(visit: Visit, changed: readonly Control[]): Promise<void> {
  const { page, traffic } = visit;
  for (let round = 0; round < 2; round += 1) {
    for (const control of changed.toReversed()) {
      // One that is set back may take others with it.
      const now = await readAgain(page, control);
      if (now !== undefined && now.value !== control.value) {
        await changeBack(page, control, now.value);
        await traffic.settleWrites();
      }
    }
    await save(visit);
  }
}

const keyOf = ({ kind, name, nth }: Control): string => `${kind} ${nth} ${name}`;
const readAll = async (page: Page): Promise<ReadonlyMap<string, string>> =>
  new Map((await findControls(page)).map((control) => [keyOf(control), control.value]));
const isThere = async (page: Page, control: Control) => (await readAll(page)).has(keyOf(control));
const show = (value: string | undefined) => JSON.stringify(value?.slice(0, 60));

const savers = /^(Save|Create|Apply)\b/;

/** Presses what stores the changes, where the page does not store them by itself. */
async function save({ page, traffic }: Visit): Promise<void> {
  const buttons = page.locator("main").getByRole("button", { name: savers });
  for (let at = 0; at < (await buttons.count()); at += 1) {
    const button = buttons.nth(at);
    if ((await button.isVisible()) && (await button.isEnabled())) {
      await button.click();
      await traffic.settle();
    }
  }
}
