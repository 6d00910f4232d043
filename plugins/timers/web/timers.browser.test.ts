import { expect, test } from "vitest";
import { ask, type ChatPages, isReply, startChatPages } from "#plugins/chats/web/chat-pages.fixture.ts";
import { calls, endsWith } from "#plugins/subagents/subagents.fixture.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { isTimer } from "../timers.fixture.ts";

describeInterface("timers in a chat", ({ setUp, openPage }) => {
  let pages: ChatPages;
  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage, { ENABLE_SUBAGENTS: "true" }));
  });

  test("cards show when timers fire and what became of them, a button cancels one, and a fired one continues the chat", async () => {
    const { upstream } = pages;
    upstream.always(isTimer("Look at the race again"), text("The race is calm."));
    upstream.reply(
      (request) => isReply(request) && endsWith("Watch the race")(request),
      calls(
        "timer",
        { prompt: "Look at the race again", at: "6s" },
        { prompt: "Ask about the sluice", at: "3h", cancel_on: ["chat.user_message"] },
        { prompt: "Order the wood", at: "45m" },
        { prompt: "Never", at: "whenever" },
      ),
    );
    const { page } = await pages.open("/");
    await ask(page, "Watch the race");
    const cards = page.getByRole("list", { name: "Timers" }).getByRole("listitem");
    const race = cards.filter({ hasText: "Look at the race again" });
    const sluice = cards.filter({ hasText: "Ask about the sluice" });
    const wood = cards.filter({ hasText: "Order the wood" });
    await race.getByText(/in \ds/).waitFor();
    await sluice.getByText(/in 3 hours · ends when you write/).waitFor();
    await wood.getByText(/in (?:44|45) minutes/).waitFor();
    await cards.filter({ hasText: "Never" }).getByText("not set").waitFor();
    await expectNoAxeFindings(page);
    await wood.getByRole("button", { name: "Cancel the timer: Order the wood" }).press("Enter");
    await wood.getByText("cancelled", { exact: true }).waitFor();
    expect(await wood.getByRole("button").count()).toBe(0);
    await race.getByText(/^fired /).waitFor();
    await page.getByText("A timer has fired").waitFor();
    await page.getByText("The race is calm.", { exact: true }).waitFor();
    // The message of the system is no message of the person.
    await sluice.getByText(/ends when you write/).waitFor();
    await expectNoAxeFindings(page);
    await ask(page, "I am here");
    await sluice.getByText("cancelled, because you wrote").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });
});
