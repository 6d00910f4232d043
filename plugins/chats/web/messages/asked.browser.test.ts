import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { ask, type ChatPages, fieldOf, isReply, startChatPages } from "../chat-pages.fixture.ts";

describeInterface("questions of a model", ({ setUp, openPage }) => {
  let pages: ChatPages;
  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage));
  });

  const mill = {
    id: "mill",
    header: "Mill",
    question: "Which mill do you mean?",
    options: [{ label: "The water mill", description: "By the river" }, { label: "The windmill" }],
  };
  const grain = {
    id: "grain",
    question: "Which grain?",
    options: [{ label: "Rye" }, { label: "Wheat" }],
    allow_other: false,
  };

  const calling = (name: string, args: object) =>
    sse(toolCallChunks([{ id: `call_${name}`, name, arguments: JSON.stringify(args) }]));
  const card = (page: Page) => page.getByRole("form", { name: "The model’s questions" });

  test("a model asks, the person answers by keys, and the checklist follows it live and after a reload", async () => {
    const { upstream } = pages;
    const tasks = [{ content: "Ask about the mill", status: "in_progress" }, { content: "Grind" }];
    upstream.reply(isReply, calling("create_tasks", { tasks }));
    upstream.reply(isReply, calling("ask_user", { questions: [mill, grain] }));
    const { page } = await pages.open("/");
    await ask(page, "Plan the grinding");
    await card(page).getByRole("timer").waitFor();
    const list = page.getByRole("region", { name: "Tasks" });
    await list.getByText("0 of 2 done").waitFor();
    await expectNoAxeFindings(page);
    // The first option has the focus; arrows choose, Tab goes on, Enter sends once all is answered.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.type("The tide mill");
    await page.keyboard.press("Enter");
    expect(await card(page).getByRole("button", { name: "Send the answer" }).isDisabled()).toBe(true);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    upstream.reply(isReply, calling("update_task", { id: "1", status: "completed" }));
    upstream.reply(isReply, text("Rye it is."));
    await page.keyboard.press("Enter");
    await page.getByText("Rye it is.", { exact: true }).waitFor();
    expect(await card(page).count()).toBe(0);
    const given = page.getByLabel("Your answers");
    expect(await given.getByRole("definition").allTextContents()).toEqual(["The tide mill", "Rye"]);
    await list.getByText("1 of 2 done").waitFor();
    await page.reload();
    await page.getByRole("region", { name: "Tasks" }).getByText("1 of 2 done").waitFor();
    expect(await page.getByLabel("Your answers").getByRole("definition").allTextContents()).toEqual([
      "The tide mill",
      "Rye",
    ]);
  });

  test("a question outlives its server: on the phone it is answered later, and the reply goes on", async () => {
    pages.upstream.reply(isReply, calling("ask_user", { questions: [grain] }));
    const { page } = await pages.open("/", { size: "phone" });
    // On a phone the key begins a line.
    await write(fieldOf(page), "Which grain?");
    await page.getByRole("button", { name: "Send" }).tap();
    await card(page).getByRole("timer").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    const chatId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    // The store follows a moment later.
    await expect
      .poll(async () => JSON.stringify(await pages.admin.read(chatId)))
      .toContain(grain.options[1]?.label);
    await pages.crash();
    await pages.restart();
    await card(page).getByText("The server restarted.").waitFor({ timeout: 30_000 });
    await page.reload();
    await card(page).getByText("Wheat").tap();
    pages.upstream.reply(isReply, text("Wheat, then."));
    await card(page).getByRole("button", { name: "Send the answer" }).tap();
    await page.getByText("Wheat, then.", { exact: true }).waitFor();
    expect(await card(page).count()).toBe(0);
    expect(await page.getByText("The reply failed.").count()).toBe(0);
  });
});
