import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { moveClockOfPages } from "./clock/clock.ts";

/** Where a Chromium with windows of its own is, which alone shows notifications of the system. */
export const wholeChromiumPath: string | undefined = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));

const shellPath = "/usr/bin/chromium-headless-shell";

/**
 * Where a Chromium of this machine is; undefined where there is none, and suites that need one are skipped. The one
 * without windows takes a third less processor time.
 */
export const chromiumPath: string | undefined = existsSync(shellPath) ? shellPath : wholeChromiumPath;

/** A name of this machine that is no secure context over plain HTTP, as servers in a local network are. */
export const plainHost = "mill.test";

/** Starts a Chromium that asks nobody for anything but the pages it is sent to; `more` are further switches. */
export async function openBrowser(
  more: readonly string[] = [],
  executablePath = chromiumPath as string,
): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--headless",
      "--disable-gpu",
      "--no-first-run",
      `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`,
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
  return moveClockOfPages(browser);
}
