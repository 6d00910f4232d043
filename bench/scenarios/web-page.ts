import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { openBrowser } from "../../test/support/browser.ts";
import { startUpstream } from "../../test/support/upstream.ts";
import { paced } from "../../test/support/upstream-paced.ts";
import { ensureInterface } from "../../scripts/interface.mjs";
import { call, toToken } from "../call.ts";
import { quantile } from "../client.ts";
import type { Running } from "../contestant.ts";
import { millrace } from "../contestants.ts";
import { type Bench, inRounds } from "../measure.ts";
import type { Finding } from "../report.ts";
import type { Scenario } from "../scenario.ts";

const slowDown = 4;
const messageCount = 2_000;
const tokenCount = 8_000;
const tokensASecond = 200;
const model = "web-bench";

/** The chat page in Chromium, slowed down four times: loading, a long chat, a long streamed reply. */
export const webPage: Scenario = {
  id: "web",
  title: "the chat page in a browser",
  async run(bench) {
    await ensureInterface();
    const upstream = await startUpstream();
    upstream.models = [model];
    upstream.always(
      "/chat/completions",
      paced(toPieces(bench.isQuick ? tokenCount / 8 : tokenCount), { every: 1000 / tokensASecond }),
    );
    const own = { ...bench, rounds: 1, mock: { ...bench.mock, port: Number(new URL(upstream.origin).port) } };
    const env = { OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }), DEFAULT_MODELS: model };
    const browser = await openBrowser();
    try {
      const [[seen] = []] = await inRounds(own, [millrace({ env })], (running) =>
        measure(bench, running, browser),
      );
      return seen ?? [];
    } finally {
      await browser.close();
      await upstream.close();
    }
  },
};

async function measure(bench: Bench, running: Running, browser: Browser): Promise<Finding[]> {
  const url = `http://127.0.0.1:${running.port}`;
  const long = await createLongChat(running);
  const context = await signedIn(browser, running, url);
  const first = await load(context, url);
  const cold = first.figures;
  await first.page.close();
  const second = await load(context, url);
  const warm = second.figures;
  const reply = await stream(second.page, second.cdp);
  await second.page.close();
  const chat = await openLong(context, `${url}/c/${long}`);
  await context.close();
  const finding = (what: string, value: number, unit: string, atMost?: number, detail?: string): Finding => ({
    goal: "P21",
    what,
    values: [value],
    unit,
    ...(atMost !== undefined && { atMost }),
    ...(detail !== undefined && { detail }),
  });
  return [
    finding(
      "script at first load, compressed",
      cold.scriptBytes / 1000,
      " KB",
      200,
      `${cold.scripts} requests; peer 2,140 KB in 238`,
    ),
    finding("first content, cold", cold.firstContent, " s", 1, "peer 1.4 s"),
    finding("composer usable, cold", cold.usable, " s", 1.5, "peer 11.3 s"),
    finding("composer usable, warm", warm.usable, " s", 0.8, "peer 8.8 s"),
    finding(`end of a chat of ${messageCount} messages`, chat.shown, " s", 0.8, "peer 9.8 s"),
    finding("DOM nodes of that chat", chat.nodes, "", 1_500, "peer 7,148"),
    finding(
      "streamed reply: work a second, last quarter against the first",
      reply.growth,
      "×",
      1.3,
      `${reply.workFirst.toFixed(0)} → ${reply.workLast.toFixed(0)} ms a second`,
    ),
    finding("streamed reply: time in long tasks", reply.longShare * 100, " %", 6),
    finding("streamed reply: layout shift", reply.shift, "", 0.01),
    finding(
      "typing while it streams, key to text, p95",
      quantile(reply.typing, 0.95),
      " ms",
      16,
      bench.isQuick ? "quick" : `${reply.typing.length} keys`,
    ),
  ];
}

async function signedIn(browser: Browser, running: Running, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US" });
  const value = toToken(running).replace("Bearer ", "");
  await context.addCookies([{ name: "token", value, url, httpOnly: true, sameSite: "Lax" }]);
  await context.addInitScript(observe);
  return context;
}

/** Runs in the page before its own code. */
function observe(): void {
  const seen = { long: [] as [number, number][], shift: 0, typing: [] as number[] };
  Object.assign(globalThis, { seen });
  new PerformanceObserver((list) => {
    list.getEntries().forEach((entry) => seen.long.push([entry.startTime, entry.duration]));
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
    })[]) {
      seen.shift += entry.hadRecentInput ? 0 : entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
  addEventListener("input", (event) => {
    // After all handlers of the page have run.
    queueMicrotask(() => seen.typing.push(performance.now() - event.timeStamp));
  });
}

interface Seen {
  readonly long: readonly (readonly [number, number])[];
  readonly shift: number;
  readonly typing: readonly number[];
}

const readSeen = (page: Page) => page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);

async function load(context: BrowserContext, url: string) {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  await cdp.send("Network.enable");
  await cdp.send("Performance.enable");
  const scripts = new Set<string>();
  let scriptBytes = 0;
  cdp.on("Network.responseReceived", ({ requestId, type }) => type === "Script" && scripts.add(requestId));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    scriptBytes += scripts.has(requestId) ? encodedDataLength : 0;
  });
  await page.goto(url, { waitUntil: "commit" });
  const usable = await page.evaluate(async () => {
    const find = () => document.querySelector<HTMLTextAreaElement>("main textarea:not(:disabled)");
    while (!find()) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return performance.now();
  });
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  await page.waitForLoadState("networkidle");
  const figures = { scriptBytes, scripts: scripts.size, firstContent: paint / 1000, usable: usable / 1000 };
  return { page, cdp, figures };
}

async function openLong(context: BrowserContext, url: string) {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowDown });
  await page.goto(url, { waitUntil: "commit" });
  const shown = await page.evaluate(async (wanted) => {
    const isSeen = () => document.querySelector("main")?.textContent?.includes(wanted) ?? false;
    while (!isSeen()) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return performance.now();
  }, lastWords);
  await page.waitForLoadState("networkidle");
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  await page.close();
  return { shown: shown / 1000, nodes };
}

/** Sends a question, types while the reply streams, and measures until it ends. */
async function stream(page: Page, cdp: CDPSession) {
  const field = page.locator("main textarea").first();
  await field.fill("Go on.");
  await field.press("Enter");
  await page.getByText("word1 ").first().waitFor();
  const started = performance.now();
  const from = await page.evaluate(() => performance.now());
  const work: number[] = [];
  let last = await taskTime(cdp);
  await field.click();
  for (;;) {
    await field.pressSequentially("typing goes on ", { delay: 60 });
    const now = await taskTime(cdp);
    work.push(((now.busy - last.busy) / (now.at - last.at)) * 1000);
    last = now;
    if (await isOver(page, performance.now() - started)) {
      break;
    }
  }
  const seen = await readSeen(page);
  const to = await page.evaluate(() => performance.now());
  const long = seen.long.filter(([start]) => start >= from).reduce((sum, [, duration]) => sum + duration, 0);
  const quarter = Math.max(1, Math.floor(work.length / 4));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [workFirst, workLast] = [mean(work.slice(0, quarter)), mean(work.slice(-quarter))];
  return {
    growth: workLast / workFirst,
    workFirst,
    workLast,
    longShare: long / (to - from),
    shift: seen.shift,
    typing: [...seen.typing].slice(-work.length * 15),
  };
}

async function taskTime(cdp: CDPSession): Promise<{ busy: number; at: number }> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { busy: value("TaskDuration"), at: value("Timestamp") };
}

async function isOver(page: Page, elapsed: number): Promise<boolean> {
  if (elapsed > (tokenCount / tokensASecond) * 3000) {
    throw new Error("The reply did not end.");
  }
  return (await page.getByText("The end of the reply.").count()) > 0;
}

const lastWords = "The last words of the long chat.";

async function createLongChat(running: Running): Promise<string> {
  const messages: Record<string, object> = {};
  const ids = Array.from({ length: messageCount }, () => randomUUID());
  for (const [n, id] of ids.entries()) {
    const isUser = n % 2 === 0;
    const content =
      n === messageCount - 1
        ? lastWords
        : `Message ${n}: **bold** and \`code\`.\n\n- one\n- two\n\n${"Some more words. ".repeat(20)}`;
    const own = isUser
      ? { role: "user", models: [model] }
      : { role: "assistant", model, modelName: model, modelIdx: 0, done: true };
    messages[id] = {
      id,
      parentId: ids[n - 1] ?? null,
      childrenIds: ids.slice(n + 1, n + 2),
      content,
      timestamp: 1_764_000_000 + n,
      ...own,
    };
  }
  const chat = { title: "Long", models: [model], history: { currentId: ids.at(-1), messages } };
  return ((await call(running, "POST /api/v1/chats/new", { chat })) as { id: string }).id;
}

/** Words in paragraphs, lists and code, as models write. */
function toPieces(count: number): string[] {
  const pieces = Array.from({ length: count }, (_, n) => {
    const at = n % 200;
    const mark =
      at === 0
        ? "\n\n## Part\n\n"
        : at === 60
          ? "\n\n- item "
          : at === 80
            ? "\n- item "
            : at === 100
              ? "\n\n```js\n"
              : at === 140
                ? "\n```\n\n"
                : at % 40 === 0
                  ? "\n\n"
                  : "";
    return `${mark}word${n} `;
  });
  return [...pieces, "\n\nThe end of the reply."];
}
