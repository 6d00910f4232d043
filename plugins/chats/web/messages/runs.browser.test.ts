import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { done, guarded } from "#plugins/approvals/guarded.fixture.ts";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { expectNoAxeFindings, type Size } from "#test/support/interface.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import { completion } from "#test/support/upstream-chunks.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { ask, fieldOf, isReply } from "../chat-pages.fixture.ts";

describeInterface("runs of a chat", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream({ models: ["alpha", "beta"], plugins: [guarded] }));
    world.upstream.always("/chat/completions", text("The wheel turns."));
    ({ token } = await world.app.admin());
  });

  async function open(path: string, size: Size = "desk") {
    const opened = await openPage({ url: world.app.url, token, path, size });
    return opened;
  }

  const idle = (page: Page) =>
    page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
  const shown = (page: Page, words: string) => page.getByText(words, { exact: true });
  const pathOf = (page: Page) => new URL(page.url()).pathname;
  const said = ({ body }: UpstreamRequest): string => body.messages.at(-1).content;

  test("asks before a tool acts: allowed, denied and always, on every screen", async () => {
    const call = (to: string) => {
      world.upstream.reply(
        isReply,
        sse(toolCallChunks([{ id: `call_${to}`, name: "send", arguments: JSON.stringify({ to }) }])),
      );
      world.upstream.reply(isReply, text(`Done with ${to}.`));
    };
    call("Ana");
    const { page } = await open("/");
    await ask(page, "Write to Ana");
    const card = (on: Page) => on.getByRole("region", { name: "Decision on send" });
    await card(page).getByText('"to": "Ana"').waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    const phone = await open(pathOf(page), "phone");
    await card(phone.page).getByRole("timer").waitFor();
    const left = await card(phone.page).getByRole("timer").textContent();
    await page.reload();
    await card(page).waitFor();
    await expectNoAxeFindings(page);
    await expect.poll(() => card(phone.page).getByRole("timer").textContent()).not.toBe(left);
    await page.getByText("waits for a decision").waitFor();
    expect(done).toEqual([]);
    await card(phone.page).getByRole("button", { name: "Allow", exact: true }).click();
    for (const each of [page, phone.page]) {
      await shown(each, "Done with Ana.").waitFor();
      await card(each).waitFor({ state: "detached" });
    }
    expect(done).toEqual([{ name: "send", parameters: { to: "Ana" } }]);
    await phone.close();

    call("Ben");
    await ask(page, "Write to Ben");
    await card(page).getByRole("button", { name: "Deny" }).click();
    await shown(page, "Done with Ben.").waitFor();
    await page.getByRole("button", { name: /Send.*denied/ }).waitFor();
    expect(done).toHaveLength(1);
    call("Cleo");
    await ask(page, "Write to Cleo");
    await card(page).getByRole("button", { name: "Always allow" }).click();
    await shown(page, "Done with Cleo.").waitFor();
    call("Dan");
    await ask(page, "Write to Dan");
    await shown(page, "Done with Dan.").waitFor();
    expect(done.map(({ parameters }) => parameters)).toEqual([{ to: "Ana" }, { to: "Cleo" }, { to: "Dan" }]);
  });

  test("keeps what is lined up over a reload, and stops what is written", async () => {
    const first = writtenReply();
    world.upstream.reply(isReply, first.script);
    const { page } = await open("/");
    await ask(page, "First sack");
    first.write("Grinding one.");
    await shown(page, "Grinding one.").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await ask(page, "Second sack");
    await ask(page, "Third sack");
    const queue = page.getByRole("list", { name: "Waiting messages" });
    await queue.getByText("Third sack").waitFor();
    await page.reload();
    await queue.getByText("Second sack").waitFor();
    await queue.getByText("Third sack").waitFor();
    const second = writtenReply();
    world.upstream.reply(isReply, second.script);
    first.end();
    second.write("Grinding two.");
    await shown(page, "Grinding two.").waitFor();
    await queue.getByText("Second sack").waitFor({ state: "detached" });
    await queue.getByText("Third sack").waitFor();
    await queue.getByRole("button", { name: "Edit waiting message" }).click();
    expect(await fieldOf(page).inputValue()).toBe("Third sack");
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await idle(page);
    await shown(page, "Grinding two.").waitFor();
    await page.reload();
    await shown(page, "Grinding two.").waitFor();
    expect(await page.getByRole("article", { name: "You" }).allTextContents()).toEqual([
      expect.stringContaining("First sack"),
      expect.stringContaining("Second sack"),
    ]);
    expect(await fieldOf(page).inputValue()).toBe("Third sack");
    const sent = world.upstream.requests.filter((request) => isReply(request)).map(said);
    expect(sent.filter((words) => words.endsWith("sack"))).toEqual(["First sack", "Second sack"]);
  });

  test("writes two replies side by side, merges them, and goes on from one", async () => {
    const [alpha, beta] = [writtenReply(), writtenReply()];
    world.upstream.reply((request) => isReply(request) && request.body.model === "alpha", alpha.script);
    world.upstream.reply((request) => isReply(request) && request.body.model === "beta", beta.script);
    const { page } = await open("/?models=alpha,beta");
    await ask(page, "Which wheel?");
    alpha.write("The overshot one");
    beta.write("The undershot one");
    await shown(page, "The overshot one").waitFor();
    await shown(page, "The undershot one").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.reload();
    await shown(page, "The undershot one").waitFor();
    const phone = await open(pathOf(page), "phone");
    alpha.write(" turns slowly.");
    beta.write(" turns fast.");
    await shown(page, "The overshot one turns slowly.").waitFor();
    await shown(page, "The undershot one turns fast.").waitFor();
    alpha.end();
    await phone.page.getByRole("radiogroup", { name: "Answers" }).getByText("beta").click();
    await shown(phone.page, "The undershot one turns fast.").waitFor();
    beta.end();
    await idle(page);
    await idle(phone.page);
    world.upstream.reply(
      (request) =>
        request.path.endsWith("/chat/completions") && JSON.stringify(request.body).includes("undershot"),
      json(completion("Both turn.")),
    );
    await page.getByRole("button", { name: "Merge answers" }).click();
    await page.getByRole("region", { name: "Merged answer" }).getByText("Both turn.").waitFor();
    await expectNoAxeFindings(page);
    await page.reload();
    await page.getByRole("region", { name: "Merged answer" }).getByText("Both turn.").waitFor();
  });

  test("forks, asks another model, reads aloud, prints, and deletes with undo", async () => {
    const { page } = await open("/");
    await ask(page, "Tell of the mill");
    await shown(page, "The wheel turns.").waitFor();
    await idle(page);
    const first = pathOf(page);
    world.upstream.reply(
      (request) => isReply(request) && request.body.model === "beta",
      text("The stone rests."),
    );
    await page.getByRole("button", { name: "Answer again" }).last().click();
    await page.getByRole("menuitem", { name: "With another model" }).hover();
    await page.getByRole("menuitem", { name: "beta" }).click();
    await shown(page, "The stone rests.").waitFor();
    await shown(page, "2/2").waitFor();
    await idle(page);

    // The browser's own voice is not there on servers: what is said is recorded.
    await page.evaluate(() => {
      const spoken: string[] = [];
      Object.assign(globalThis, { spoken });
      speechSynthesis.speak = (utterance) => void spoken.push(utterance.text);
    });
    await page.getByRole("button", { name: "Read aloud" }).last().click();
    await page.getByRole("button", { name: "Stop reading" }).click();
    expect(await page.evaluate(() => (globalThis as unknown as { spoken: string[] }).spoken)).toEqual([
      "The stone rests.",
    ]);

    await page.emulateMedia({ media: "print" });
    // oxlint-disable-next-line no-restricted-globals -- a print dialog cannot be looked into
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const printed = await page.locator("body").innerText();
    expect(printed).toContain("Tell of the mill");
    expect(printed).toContain("The stone rests.");
    expect(printed).not.toContain("New chat");
    // oxlint-disable-next-line no-restricted-globals -- as above
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: null });

    await page.getByRole("button", { name: "More" }).last().click();
    await page.getByRole("menuitem", { name: "Fork from here" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/c/") && url.pathname !== first);
    await shown(page, "The stone rests.").waitFor();
    await ask(page, "Only in the fork");
    await shown(page, "The wheel turns.").waitFor();
    await idle(page);
    await page.getByRole("button", { name: "More" }).last().click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await shown(page, "The wheel turns.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await shown(page, "The wheel turns.").waitFor();
    await page.reload();
    await shown(page, "The wheel turns.").waitFor();
    await page.goto(world.app.url + first);
    await shown(page, "The stone rests.").waitFor();
    expect(await page.getByText("Only in the fork").count()).toBe(0);
  });
});
