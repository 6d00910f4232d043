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
  /** The browser's language. */
  readonly locale?: string;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page did that it should not: policy violations, errors, requests to other hosts. */
  readonly problems: string[];
  /** Closes the window; throws when the page did what it should not. */
  close(): Promise<void>;
}

const sizes = {
  desk: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
} as const;

/** Opens a page of the interface in a window of its own, without animations. */
export async function openPage(browser: Browser, options: OpenOptions): Promise<OpenPage> {
  const { url, token, path = "/", size = "desk", theme = "light", locale = "en-US" } = options;
  const context = await browser.newContext({
    ...sizes[size],
    colorScheme: theme,
    locale,
    reducedMotion: "reduce",
  });
  if (token !== undefined) {
    await context.addCookies([{ name: "token", value: token, url, httpOnly: true, sameSite: "Lax" }]);
  }
  const page = await context.newPage();
  const problems = watch(page, url);
  await page.goto(url + path);
  return {
    page,
    context,
    problems,
    async close() {
      await context.close();
      if (problems.length > 0) {
        throw new Error(`The page did what it should not:\n${[...new Set(problems)].join("\n")}`);
      }
    },
  };
}

/** Collects what a page of this origin never does. Failed calls are the suites' own matter. */
function watch(page: Page, url: string): string[] {
  const problems: string[] = [];
  const { origin } = new URL(url);
  page.on("pageerror", (error) => problems.push(`error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    const isFailedCall = /^Failed to load resource|^WebSocket connection to/.test(text);
    if (message.type() === "error" && !isFailedCall) {
      problems.push(`console: ${text}`);
    }
  });
  page.on("request", (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (/^(https?|wss?):$/.test(protocol) && target !== origin) {
      problems.push(`request to another host: ${request.url()}`);
    }
  });
  return problems;
}

/** Throws when axe finds something serious or critical on the page, or in the part that `within` selects. */
export async function expectNoAxeFindings(page: Page, within?: string): Promise<void> {
  const builder = new AxeBuilder({ page }).setLegacyMode();
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
