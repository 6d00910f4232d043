import type { Page, Request } from "playwright-core";

/** What a page asks of the server: when all of it is answered, it shows what it has to show. */
export interface Traffic {
  /** Resolves once nothing is being asked or loaded, and the page has drawn. */
  settle(): Promise<void>;
  /** The same where a change is on its way to the server; at once otherwise. */
  settleWrites(): Promise<void>;
  /** Changes that the server refused since the last call: a draft in the browser would hide that. */
  takeRefused(): readonly string[];
}

const isLasting = (request: Request) =>
  /^(eventsource|websocket|media|manifest)$/.test(request.resourceType()) ||
  // The second stands in for a socket that did not open in time.
  /\/ws\/|\/api\/v1\/events\b/.test(request.url());
/** Long enough for a machine on which other suites run. */
const longestMs = 60_000;

/**
 * Waits until the page shows something and nothing on it says that it is loading; answers with what still does in the
 * end. Between the last script and the first text of a page nothing is asked for, and nothing is there to say so.
 */
const drawn = `new Promise((done) => {
  const deadline = performance.now() + 30000;
  const frame = () => requestAnimationFrame(() => requestAnimationFrame(look));
  const look = () => {
    const shown = document.querySelector("main") ?? document.body;
    const busy = document.querySelector('[aria-busy="true"], [data-skeleton]') ?? (shown.innerText.trim() === "" ? shown : null);
    return busy === null || performance.now() > deadline ? done(busy?.outerHTML.slice(0, 300) ?? "") : frame();
  };
  frame();
})`;

/** Follows the requests of a page from here on. */
export function followTraffic(page: Page): Traffic {
  const pending = new Set<Request>();
  const refused: string[] = [];
  let wake = (): void => {};
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) {
      // The browser never tells the end of what the page before sent as it went.
      pending.clear();
    }
    if (!isLasting(request)) {
      pending.add(request);
    }
  });
  const end = (request: Request) => {
    pending.delete(request);
    wake();
  };
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    const method = response.request().method();
    if (method !== "GET" && response.status() >= 400) {
      refused.push(`${method} ${pathname}: ${response.status()}`);
    }
  });
  page.on("requestfinished", end).on("requestfailed", end);

  const idle = (deadline: number): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error(`not answered: ${[...pending].map((each) => each.url()).join(", ")}`)),
      deadline - performance.now(),
    );
    wake = () => {
      if (pending.size === 0) {
        clearTimeout(timer);
        resolve();
      }
    };
    wake();
    return promise;
  };
  async function settle(): Promise<void> {
    const deadline = performance.now() + longestMs;
    do {
      await idle(deadline);
      const busy = await page.evaluate<string>(drawn);
      if (busy !== "") {
        throw new Error(`the page says that it is loading: ${busy}`);
      }
    } while (pending.size > 0);
  }
  return {
    settle,
    async settleWrites() {
      // What a key or a press asks for is asked for by the time that the page answers.
      await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => drawn()))");
      if (pending.size > 0) {
        await settle();
      }
    },
    takeRefused: () => refused.splice(0),
  };
}
