// `npm run shots [-- home chat]`: pictures of real states of the interface, to be looked at. They go to `.cache/shots`;
// `--readme` renews the picture of the README instead, `--docs [-- knowledge]` those of the pages of `docs/`.
import { mkdirSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Browser, Page } from "playwright-core";
import { makeMicrophone } from "#plugins/audio/microphone.fixture.ts";
import { openBrowser } from "#test/support/browser.ts";
import { ensureInterface } from "./interface.mjs";
import { docsPictures } from "./shots/docs-pictures.ts";
import type { Look, State } from "./shots/state.ts";
import { states, strangerStates } from "./shots/states.ts";
import { openWorld, type World } from "./shots/world.ts";
import { root } from "./tool.ts";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { readme: { type: "boolean" }, docs: { type: "boolean" } },
});
const folder = `${root}${values.readme ? "docs" : values.docs ? "docs/pictures" : ".cache/shots"}`;
const usual: readonly Look[] = ["desk-light", "phone-dark"];

if (!values.readme && !values.docs && words.length === 0) {
  rmSync(folder, { recursive: true, force: true });
}
mkdirSync(folder, { recursive: true });
await ensureInterface();
const world = await openWorld();
const microphone = makeMicrophone();
const browser = await openBrowser(microphone.switches);
const failures: string[] = [];
let taken = 0;
if (values.readme) {
  const chat = states.find(({ name }) => name === "chat") as State;
  await take(chat, "desk-light", "screenshot");
} else if (values.docs) {
  for (const [name, wanted] of Object.entries(docsPictures).filter(([page]) => isAsked(page))) {
    const state = [...strangerStates, ...states].find((each) => each.name === wanted) as State;
    await take(state, "desk-light", name);
  }
} else {
  for (const state of [...strangerStates, ...states].filter(({ name }) => isAsked(name))) {
    for (const look of state.looks ?? usual) {
      await take(state, look, `${state.name}-${look}`);
    }
  }
}
await browser.close();
microphone.remove();
await world.close();
console.log(`${taken} pictures in ${folder}`);
failures.forEach((line) => console.error(line));
process.exit(failures.length === 0 ? 0 : 1);

function isAsked(name: string): boolean {
  return words.length === 0 || words.some((word) => name.includes(word));
}

async function take(state: State, look: Look, name: string): Promise<void> {
  const page = await openPage(browser, world, { look, isStranger: strangerStates.includes(state) });
  try {
    await state.show(page, world);
  } catch (error) {
    failures.push(`${name}: ${(error as Error).message.split("\n")[0]}`);
  }
  // What is still arriving, such as fonts and colours of code, belongs into the picture.
  await page.waitForLoadState("networkidle").catch(() => undefined);
  await page.waitForTimeout(state.name === "streaming" ? 0 : 700);
  await page.screenshot({ path: `${folder}/${name}.png` });
  taken += 1;
  await page.context().close();
}

async function openPage(
  opened: Browser,
  { url, token }: World,
  { look, isStranger }: { look: Look; isStranger: boolean },
): Promise<Page> {
  const isPhone = look.startsWith("phone");
  const context = await opened.newContext({
    baseURL: url,
    viewport: isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
    colorScheme: look.endsWith("dark") ? "dark" : "light",
    hasTouch: isPhone,
    isMobile: isPhone,
    deviceScaleFactor: 1,
    locale: "en-US",
  });
  if (!isStranger) {
    await context.addCookies([{ name: "token", value: token, url, httpOnly: true, sameSite: "Lax" }]);
  }
  const page = await context.newPage();
  page.setDefaultTimeout(6000);
  return page;
}
