import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { moveDate } from "#test/support/clock/move-date.mjs";
import { secondsUntil } from "#test/support/clock/now.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { rateLimited } from "#test/support/upstream-scripts.ts";

const day = 86_400_000;

describeInterface("a device whose clock is wrong by a day", ({ setUp, openPage }) => {
  let world: AppWithUpstream;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha"] }));
    await world.app.admin();
  });

  test.each([
    ["ahead", day],
    ["behind", -day],
  ])("goes by the time of the server: %s", async (_name, shift) => {
    const user = await world.app.user();
    const message = { id: "m1", parentId: null, childrenIds: [], role: "user", content: "Now", timestamp: 1 };
    const chat = { title: "Just now", models: [], history: { currentId: "m1", messages: { m1: message } } };
    await world.app.call("POST /api/v1/chats/new", { token: user.token, body: { chat } });
    world.upstream.always("/chat/completions", rateLimited({ seconds: 50 }));
    const { page, context } = await openPage({ url: world.app.url, token: user.token });
    await context.addInitScript(`(${moveDate.toString()})({ shift: ${shift} })`);
    await page.goto(`${world.app.url}/`);
    const shown = await page.evaluate(() => Date.now());
    expect(Math.abs(secondsUntil(shown) * 1000 - shift)).toBeLessThan(day / 2);
    const chats = page.getByRole("region", { name: "Chats" });
    await chats.getByRole("heading", { name: "Today" }).waitFor();
    await chats.getByRole("link", { name: "Just now" }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).click();
    await page.keyboard.type("Ask");
    await page.keyboard.press("Enter");
    const retry = page.getByRole("button", { name: /^Try again in \d+ s$/ });
    await retry.waitFor();
    const seconds = Number(/\d+/.exec(await retry.innerText())?.[0]);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(60);
    expect(await chats.getByRole("heading").allInnerTexts()).toEqual(["Today"]);
    await page.goto(`${world.app.url}/workspace/new-prompt`);
    await page.getByRole("textbox", { name: "Name" }).click();
    await page.keyboard.type("Kept");
    await page.reload();
    const today = new Intl.DateTimeFormat("en-US", { dateStyle: "medium" }).format();
    await page.getByText(`You made them ${today}`).waitFor();
  });
});
