import { expect, test } from "vitest";
import { ask, type ChatPages, isReply, startChatPages } from "#plugins/chats/web/chat-pages.fixture.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { failure, text } from "#test/support/upstream-scripts.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { answerTask, calls, endsWith } from "../subagents.fixture.ts";

describeInterface("sub-agents in a chat", ({ setUp, openPage }) => {
  let pages: ChatPages;
  setUp(async (keep) => {
    pages = await keep(
      startChatPages(openPage, { ENABLE_SUBAGENTS: "true", SUBAGENTS_BACKGROUND_ENABLED: "true" }),
    );
  });

  test("cards show what sub-agents do, lead to their chats, and a result in the background continues the chat", async () => {
    const { upstream } = pages;
    answerTask(upstream, "Read the report about the wheel", "The wheel is sound.");
    answerTask(upstream, "Read the report about the weir", failure(400, "No such model"));
    answerTask(upstream, "Compare the prices of stones", paced(makePieces(60), { every: 50 }));
    upstream.always(endsWith("[Message of the system"), text("The stones are dear."));
    upstream.reply(
      (request) => isReply(request) && endsWith("Read the reports")(request),
      calls(
        "delegate_task",
        { task: "Read the report about the wheel" },
        { task: "Read the report about the weir" },
        { task: "Compare the prices of stones", background: true },
      ),
    );
    const { page } = await pages.open("/");
    await ask(page, "Read the reports");
    const cards = page.getByRole("list", { name: "Sub-agents" }).getByRole("listitem");
    await cards.filter({ hasText: "wheel" }).getByText("done").waitFor();
    await cards.filter({ hasText: "weir" }).getByText("failed").waitFor();
    await cards.filter({ hasText: "stones" }).getByText("at work").waitFor();
    await expectNoAxeFindings(page);
    await cards.filter({ hasText: "stones" }).getByText("done").waitFor();
    await page.getByText("A sub-agent is done").waitFor();
    await page.getByText("The stones are dear.", { exact: true }).waitFor();
    await expectNoAxeFindings(page);
    const { pathname } = new URL(page.url());
    await cards.filter({ hasText: "wheel" }).getByRole("link").click();
    await page.getByText("The wheel is sound.", { exact: true }).waitFor();
    expect(new URL(page.url()).pathname).not.toBe(pathname);
  });
});
