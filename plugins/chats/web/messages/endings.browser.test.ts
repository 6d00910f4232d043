import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startAppWithUpstream, type AppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { textChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { json, sse, text } from "#test/support/upstream-scripts.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { ask as write, isReply } from "../chat-pages.fixture.ts";

describeInterface("replies that are not whole", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;
  let page: Page;

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    world.upstream.always("/chat/completions", text("The wheel turns."));
    ({ token } = await world.app.admin());
  });

  /** Asks in a chat of its own. */
  async function ask(question: string, script: Script): Promise<void> {
    world.upstream.reply(isReply, script);
    ({ page } = await openPage({ url: world.app.url, token }));
    await write(page, question);
  }

  const reply = () => page.getByRole("article", { name: /^Reply of/ });

  test("a reply that was cut says so, also after a reload, and goes on", async () => {
    await ask("How long is it?", sse(textChunks("It is as long ", { finish: "length" })));
    await reply().getByText("Reply cut off at the token limit").waitFor();
    await page.reload();
    await reply().getByText("Reply cut off at the token limit").waitFor();
    world.upstream.reply(isReply, text("as a river."));
    await reply().getByRole("button", { name: "Continue" }).click();
    await reply().getByText("It is as long as a river.", { exact: true }).waitFor();
    await reply().getByText("Reply cut off at the token limit").waitFor({ state: "detached" });
  });

  test("an empty reply says so, and is asked again", async () => {
    await ask("Is there anything?", sse(textChunks("")));
    await reply().getByText("The model returned an empty reply").waitFor();
    await reply().getByRole("button", { name: "Try again" }).click();
    await reply().getByText("The wheel turns.", { exact: true }).waitFor();
  });

  test("a stopped reply says so, and its chat gets a title", async () => {
    const written = writtenReply();
    await ask("Tell me of the mill at the river", written.script);
    written.write("There was a mill. ");
    await reply().getByText("There was a mill.").waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await reply().getByText("Stopped", { exact: true }).waitFor();
    await reply().getByRole("button", { name: "Continue" }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await expect.poll(() => page.title()).not.toContain("New Chat");
  });

  test("a provider that names a time is counted down to, in its own words", async () => {
    await ask(
      "Now?",
      json([{ error: { code: 429, message: "Slow down, please." } }], {
        status: 429,
        headers: { "retry-after": "3" },
      }),
    );
    await reply().getByText("Slow down, please.", { exact: true }).waitFor();
    await reply()
      .getByRole("button", { name: /^Try again in \d s$/ })
      .waitFor();
    await reply().getByRole("button", { name: "Try again", exact: true }).click();
    await reply().getByText("The wheel turns.", { exact: true }).waitFor();
  });
});
