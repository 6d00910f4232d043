import { mkdir } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterEach, beforeAll, describe, type TestContext } from "vitest";
import { chromiumPath, openBrowser } from "./browser.ts";
import { keepPage } from "./evidence.ts";
import { buildInterface, openPage as openIn, type OpenOptions, type OpenPage } from "./interface.ts";
import { shareInWorker } from "./leaks/leaks.ts";
import { closeAll, type Keep, setUp } from "./set-up.ts";
import { root } from "./shell.ts";

/** Each step has a limit of its own; this one is for what hangs, and leaves time for a busy machine. */
const patienceMs = 240_000;

export interface OpenInSuite extends OpenOptions {
  /** Another browser than the one that the suites of a worker share. */
  readonly browser?: Browser;
}

export interface InterfaceSuite {
  /** Starts what the tests share. */
  setUp(prepare: (keep: Keep) => Promise<void>): void;
  /** Opens a page in a context of its own. It is closed after the test, which fails when the page did what it should not. */
  openPage(options: OpenInSuite): Promise<OpenPage>;
}

/** Declares tests of the built interface in a browser; they are skipped where there is none. */
export function describeInterface(name: string, declare: (suite: InterfaceSuite) => void): void {
  describe.skipIf(chromiumPath === undefined)(name, { timeout: patienceMs }, () => declare(prepareSuite()));
}

function prepareSuite(): InterfaceSuite {
  const pages: OpenPage[] = [];
  // Building happens once for all suites, and takes minutes then.
  beforeAll(buildInterface, 4 * patienceMs);
  afterEach(async ({ task }) => {
    const opened = pages.splice(0);
    if (task.result?.state === "fail") {
      await keepPages(task, opened);
    }
    await closeAll(opened);
  });
  return {
    setUp: (prepare) => setUp(prepare, patienceMs),
    async openPage({ browser, ...options }) {
      const opened = await openIn(browser ?? (await workerBrowser()), options);
      pages.push(opened);
      return opened;
    },
  };
}

/** Saves what the pages of a failed test showed, and remembers what went wrong in them. */
async function keepPages(task: TestContext["task"], opened: readonly OpenPage[]): Promise<void> {
  const folder = `${root}.cache/failures/`;
  await mkdir(folder, { recursive: true });
  const title = `${task.suite?.name ?? ""} ${task.name}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  let count = 0;
  for (const { context, problems, failedRequests } of opened) {
    for (const page of context.pages()) {
      count += 1;
      const path = `${folder}${title.slice(0, 100)}-${count}.png`;
      const picture = await page.screenshot({ path, timeout: 10_000 }).then(
        () => path,
        (error: unknown) => `no screenshot: ${String(error)}`,
      );
      keepPage(`${page.url()}\n    ${picture}`);
    }
    for (const line of [...problems, ...failedRequests]) {
      keepPage(`  ${line}`);
    }
  }
}

let running: Promise<Browser> | undefined;

/** The browser that the suites of one worker share: a start costs more than most tests. It ends with the worker. */
async function workerBrowser(): Promise<Browser> {
  running ??= shareInWorker(openBrowser);
  const browser = await running;
  return browser.isConnected() ? browser : await (running = shareInWorker(openBrowser));
}
