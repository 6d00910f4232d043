import { beforeEach, expect, test } from "vitest";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { ask, type ChatPages, fieldOf, isReply, startChatPages } from "../chat-pages.fixture.ts";

describeInterface("chats on several screens", ({ setUp, openPage }) => {
  let pages: ChatPages;
  /** Requests of tests before this one, or of its first try. */
  let earlier = 0;

  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage));
  });
  beforeEach(() => {
    pages.wire.restore();
    earlier = pages.upstream.requests.length;
  });

  test("goes on with a stream after a reload, in a second tab and on a phone", async () => {
    const reply = writtenReply();
    pages.upstream.reply(isReply, reply.script);
    const { page, context } = await pages.open("/");
    await ask(page, "Does it turn?");
    reply.write("One turn. ");
    await page.getByText("One turn.").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    const path = new URL(page.url()).pathname;
    await page.reload();
    await page.getByText("One turn.").waitFor();
    const tab = await context.newPage();
    await tab.goto(page.url());
    const phone = await pages.open(path, { size: "phone" });
    reply.write("Two turns. ");
    for (const each of [page, tab, phone.page]) {
      await each.getByText("One turn. Two turns.", { exact: true }).waitFor();
      await each.getByRole("button", { name: "Stop the reply" }).waitFor();
    }
    reply.write("Three turns.");
    reply.end();
    for (const each of [page, tab, phone.page]) {
      await each.getByText("One turn. Two turns. Three turns.", { exact: true }).waitFor();
      await each.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
      expect(await each.getByRole("article", { name: "You" }).count()).toBe(1);
    }

    // Asked on the phone: the others see question and reply.
    const second = writtenReply();
    pages.upstream.reply(isReply, second.script);
    await write(fieldOf(phone.page), "How fast?");
    await phone.page.getByRole("button", { name: "Send message" }).click();
    second.write("Four a minute, ");
    for (const each of [page, tab]) {
      await each.getByText("How fast?", { exact: true }).waitFor();
      await each.getByText("Four a minute,").waitFor();
    }
    second.write("no more.");
    second.end();
    for (const each of [page, tab, phone.page]) {
      await each.getByText("Four a minute, no more.", { exact: true }).waitFor();
      await each.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    }

    // Answered once more in the second tab, and continued there.
    const third = writtenReply();
    pages.upstream.reply(isReply, third.script);
    await tab.getByRole("button", { name: "Answer again" }).last().click();
    await tab.getByRole("menuitem", { name: "Try again" }).click();
    third.write("Five a minute.");
    for (const each of [page, phone.page]) {
      await each.getByText("Five a minute.", { exact: true }).waitFor();
    }
    third.end();
    await tab.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    const fourth = writtenReply();
    pages.upstream.reply(isReply, fourth.script);
    await tab.getByRole("button", { name: "More" }).last().click();
    await tab.getByRole("menuitem", { name: "Continue" }).click();
    fourth.write(" In spring six.");
    for (const each of [page, tab, phone.page]) {
      await each.getByText("Five a minute. In spring six.", { exact: true }).waitFor();
    }
    fourth.end();
    for (const each of [page, tab, phone.page]) {
      await each.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    }
  });

  test("a reply that goes on is being written from the first moment of a page that is loaded again", async () => {
    const { page } = await pages.open("/");
    await ask(page, "Is there more?");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    const rest = writtenReply();
    pages.upstream.reply(isReply, rest.script);
    await page.getByRole("button", { name: "More" }).last().click();
    await page.getByRole("menuitem", { name: "Continue" }).click();
    rest.write(" So does the stone.");
    await page.getByText("The wheel turns. So does the stone.", { exact: true }).waitFor();
    await ask(page, "Lined up behind it");
    const mayAnswer = Promise.withResolvers<void>();
    await page.route(/\/api\/tasks\/chat\//, async (route) => {
      await mayAnswer.promise;
      await route.fallback();
    });
    await page.reload();
    await page.getByText(/^The wheel turns\./).waitFor();
    expect(await page.getByRole("button", { name: "Stop the reply" }).count()).toBe(1);
    expect(await page.getByRole("button", { name: "Answer again" }).count()).toBe(0);
    mayAnswer.resolve();
    await page.getByText("The wheel turns. So does the stone.", { exact: true }).waitFor();
    rest.end();
    await page.getByRole("article", { name: "You" }).getByText("Lined up behind it").waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
  });

  test("a chat that is deleted on another device leaves the list, and what is typed goes into a new one", async () => {
    const { page } = await pages.open("/");
    await ask(page, "Shall this stay?");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    const path = new URL(page.url()).pathname;
    const listed = page.locator(`a[href="${path}"]`);
    await listed.waitFor();
    await write(fieldOf(page), "A thought worth keeping");
    const { status } = await pages.admin.call(`DELETE /api/v1/chats/${path.slice(3)}`);
    expect(status).toBe(200);
    await page.getByText("This chat was deleted.", { exact: true }).waitFor();
    await listed.waitFor({ state: "detached" });
    await page.getByRole("article", { name: "You" }).getByText("Shall this stay?").waitFor();
    await page.getByRole("button", { name: "Start a new chat with this text" }).click();
    await page.waitForURL((url) => url.pathname === "/");
    expect(await fieldOf(page).inputValue()).toBe("A thought worth keeping");
    await fieldOf(page).press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL((url) => url.pathname.startsWith("/c/") && url.pathname !== path);
  });

  test("keeps what was written when the server crashes, and continues it", async () => {
    const reply = writtenReply();
    pages.upstream.reply(isReply, reply.script);
    const { page } = await pages.open("/");
    await ask(page, "Grind the corn");
    reply.write("The first sack is ground. ");
    await page.getByText("The first sack is ground.").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    const id = new URL(page.url()).pathname.slice(3);
    await expect
      .poll(async () => JSON.stringify(await pages.admin.read(id)), { timeout: 5000 })
      .toContain("The first sack is ground.");
    await pages.crash();
    await page.getByText("Connection lost. The reply is still being written on the server.").waitFor();
    await pages.restart();
    await page.getByText("The reply was interrupted.").waitFor({ timeout: 20_000 });
    await page.getByText("The server restarted. The text so far is kept.").waitFor();
    await page.getByText("The first sack is ground.").waitFor();
    expect(await page.getByRole("button", { name: "Stop the reply" }).count()).toBe(0);

    const rest = writtenReply();
    pages.upstream.reply(isReply, rest.script);
    await page.getByRole("button", { name: "Continue" }).click();
    rest.write("So is the second.");
    await page.getByText("The first sack is ground. So is the second.").waitFor();
    rest.end();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("The first sack is ground. So is the second.").waitFor();
    expect(await page.getByText("The reply was interrupted.").count()).toBe(0);
  });

  test("sends once what was asked while the server was away, and what a closed page left", async () => {
    const { page, context } = await pages.open("/");
    await ask(page, "Is the mill there?");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    const chat = new URL(page.url()).pathname;
    const tab = await context.newPage();
    await tab.goto(page.url());
    await tab.getByText("The wheel turns.", { exact: true }).waitFor();

    pages.wire.cut();
    await page.getByText(/No connection to the server/).waitFor();
    await ask(page, "Asked while away");
    await page.getByRole("article", { name: "You" }).getByText("Asked while away").waitFor();
    await page.getByText(/^Not sent yet/).waitFor();
    await ask(page, "And once more");
    await page.getByRole("list", { name: "Waiting messages" }).getByText("And once more").waitFor();
    await write(fieldOf(page), "Still typing");
    pages.wire.restore();
    await page.getByRole("article", { name: "You" }).getByText("And once more").waitFor({ timeout: 45_000 });
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    await expect.poll(() => page.getByRole("article", { name: /^Reply of/ }).count()).toBe(3);
    expect(await fieldOf(page).inputValue()).toBe("Still typing");
    expect(questions()).toEqual(["Is the mill there?", "Asked while away", "And once more"]);
    await tab.getByRole("article", { name: "You" }).getByText("And once more").waitFor();

    // What is not sent yet can be taken back.
    pages.wire.cut();
    await ask(page, "Never mind the mill");
    await page.getByRole("article", { name: "You" }).getByText("Never mind").waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await page.getByRole("article", { name: "You" }).getByText("Never mind").waitFor({ state: "detached" });
    expect(await fieldOf(page).inputValue()).toBe("Never mind the mill");
    pages.wire.restore();
    await page.getByText(/No connection to the server/).waitFor({ state: "detached", timeout: 20_000 });

    // The page goes while the server is away, and the next one sends what it left.
    pages.wire.cut();
    await ask(page, "Left behind");
    await page.getByRole("article", { name: "You" }).getByText("Left behind").waitFor();
    await page.close();
    await tab.close();
    pages.wire.restore();
    const next = await context.newPage();
    await next.goto(pages.url + chat);
    await next.getByRole("article", { name: "You" }).getByText("Left behind").waitFor();
    await expect.poll(questions).toHaveLength(4);
    await next.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });

    // A first message has no chat yet: the next page makes it.
    await next.goto(pages.url);
    await fieldOf(next).waitFor();
    // Without the list of models a question stays in the field until there is one.
    await next.getByRole("button", { name: "Model: alpha" }).waitFor();
    pages.wire.cut();
    await ask(next, "A first one");
    await next.getByRole("article", { name: "You" }).getByText("A first one").waitFor();
    await next.close();
    pages.wire.restore();
    const last = await context.newPage();
    await last.goto(pages.url);
    await expect.poll(questions).toHaveLength(5);
    await last
      .getByRole("link", { name: /A first one|The wheel turns/ })
      .first()
      .waitFor();
    expect(questions().at(-1)).toBe("A first one");
  });

  /** The last words of every request for a reply that the model got in this try. */
  function questions(): string[] {
    return pages.upstream.requests
      .slice(earlier)
      .filter((request) => isReply(request))
      .map(({ body }) => body.messages.at(-1).content as string)
      .filter((words) => /mill|away|more|behind|first one/.test(words));
  }
});
