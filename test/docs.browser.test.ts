import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Surface, surfaces } from "#kernel/http/surfaces.ts";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";

const names = (Object.keys(surfaces) as Surface[]).filter((surface) => surfaces[surface].docs);

// `openPage` fails when a page loads something from elsewhere.
describeInterface("the pages of the API documentation", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(startApp());
  });

  test.each(names)("%s shows every operation of its document", async (surface) => {
    const { body } = await app.call(`GET ${surfaces[surface].base}/openapi.json`);
    const operations = Object.values(body.paths as Record<string, object>).flatMap(Object.keys);
    const { page } = await openPage({ url: app.url, path: `${surfaces[surface].base}/docs` });
    await expect
      .poll(() => page.locator(".swagger-ui .info .title").textContent(), { timeout: 60_000 })
      .toContain(surfaces[surface].title);
    expect(await countShown(page)).toBe(operations.length);
  });
});

/** Counts the operations from top to bottom: of a long document the page draws only what is in view. */
async function countShown(page: Page): Promise<number> {
  const seen = new Set<string>();
  for (let isEnd = false, calm = 0; calm < 3; calm = isEnd ? calm + 1 : 0) {
    const ids = await page.locator(".opblock").evaluateAll((blocks) => blocks.map(({ id }) => id));
    ids.forEach((id) => seen.add(id));
    isEnd = await page.evaluate<boolean>(
      `new Promise((drawn) => {
        scrollBy(0, innerHeight / 2);
        requestAnimationFrame(() => requestAnimationFrame(() =>
          drawn(innerHeight + scrollY >= document.documentElement.scrollHeight - 2)));
      })`,
    );
  }
  return seen.size;
}
