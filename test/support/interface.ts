import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { ensureInterface, isFresh } from "../../scripts/interface.mjs";

let building: Promise<void> | undefined;

/** Builds the interface when its sources changed; suites that load a page of it ask for this first. */
export function buildInterface(): Promise<void> {
  return (building ??= build());
}

async function build(): Promise<void> {
  const said: string[] = [];
  await ensureInterface({ print: (line) => void said.push(line) });
  if (!isFresh()) {
    throw new Error(`the interface is not built:\n${said.join("\n")}`);
  }
}

export type Size = "desk" | "phone";
export type Theme = "light" | "dark";

export interface OpenOptions {
  /** Where the server is, such as `app.url`. */
  readonly url: string;
  /** Who is signed in, such as `(await app.user()).token`; left out, nobody. */
  readonly token?: string | undefined;
  readonly path?: string;
  readonly size?: Size;
  readonly theme?: Theme;
  /** Other origins that the page may lead to or ask. */
  readonly otherOrigins?: readonly string[];
  /** The browser's language. */
  readonly locale?: string;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page did that it should not: policy violations, errors, requests to other hosts. */
  readonly problems: string[];
  /** Requests that failed or were answered with an error; tests may mean them to. */
  readonly failedRequests: string[];
  /** Closes the window; throws when the page did what it should not. */
  close(): Promise<void>;
}

const sizes = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const;

/** Opens a page of the interface in a window of its own, without animations. */
export async function openPage(browser: Browser, options: OpenOptions): Promise<OpenPage> {
  const {
    url,
    token,
    path = "/",
    size = "desk",
    theme = "light",
    locale = "en-US",
    otherOrigins = [],
  } = options;
  const context = await browser.newContext({
    ...sizes[size],
    colorScheme: theme,
    locale,
    reducedMotion: "reduce",
    // Browsers with windows allow it to every press on a button.
    permissions: ["clipboard-write"],
  });
  if (token !== undefined) {
    await context.addCookies([{ name: "token", value: token, url, httpOnly: true, sameSite: "Lax" }]);
  }
  // Half a minute, as it is elsewhere, is too short for a page on a busy machine.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems = watch(page, [new URL(url).origin, ...otherOrigins]);
  const failedRequests = watchRequests(context);
  await page.goto(url + path);
  return {
    page,
    context,
    problems,
    failedRequests,
    async close() {
      // Closing cuts requests off, which is no fault of the page.
      const found = new Set(problems.splice(0));
      await context.close();
      if (found.size > 0) {
        throw new Error(`The page did what it should not:\n${[...found].join("\n")}`);
      }
    },
  };
}

/** Collects what a page of this origin never does. Failed calls are the suites' own matter. */
function watch(page: Page, origins: readonly string[]): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    const isFailedCall = /^Failed to load resource|^WebSocket connection to/.test(text);
    // Svelte warns of state that is read after its component is gone.
    const isOwnWarning = message.type() === "warning" && text.includes("svelte.dev/e/");
    if (isOwnWarning || (message.type() === "error" && !isFailedCall)) {
      problems.push(`console: ${text}`);
    }
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (/^(https?|wss?):$/.test(protocol) && !origins.includes(origin)) {
      problems.push(`request to another host: ${request.url()}`);
    }
  });
  return problems;
}

function watchRequests(context: BrowserContext): string[] {
  const failed: string[] = [];
  context.on("requestfailed", (request) => {
    failed.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText ?? "failed"}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400) {
      failed.push(`${response.request().method()} ${response.url()}: ${response.status()}`);
    }
  });
  return failed;
}

/** Throws when axe finds something serious or critical on the page, or in the part that `within` selects. */
export async function expectNoAxeFindings(page: Page, within?: string): Promise<void> {
  // Describing what passes as well would take twice the time.
  const builder = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await (within === undefined ? builder : builder.include(within)).analyze();
  const found = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id} (${help}): ${node.target.join(" ")}\n    ${node.failureSummary ?? ""}`),
    );
  if (found.length > 0) {
    throw new Error(`axe finds on ${page.url()}:\n${found.join("\n")}`);
  }
}
