import type { APIResponse, Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { plainHost } from "#test/support/browser.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { ask, type ChatPages, fieldOf, isReply, startChatPages } from "../chat-pages.fixture.ts";

/** Handles requests for replies in the network's place, until `give` says to let them through. */
async function intercept(
  page: Page,
  handle: (route: Route) => Promise<unknown>,
): Promise<{ begin(): void; end(): void }> {
  const state = { isOn: true };
  await page.route(
    ({ pathname }) => pathname === "/api/chat/completions",
    (route) => (state.isOn ? handle(route) : route.fallback()),
  );
  return { begin: () => (state.isOn = true), end: () => (state.isOn = false) };
}

/** Has the server answer the request, whatever becomes of the answer. */
async function forward(route: Route): Promise<APIResponse> {
  // The name of the page's host is known to the browser alone.
  const { host } = new URL(route.request().url());
  const url = route.request().url().replace(plainHost, "127.0.0.1");
  return await route.fetch({ url, headers: { ...route.request().headers(), host } });
}

describeInterface("questions that do not arrive", ({ setUp, openPage }) => {
  let pages: ChatPages;

  setUp(async (keep) => {
    pages = await keep(startChatPages(openPage));
  });

  const asked = (question: string) =>
    pages.upstream.requests.filter(
      (request) => isReply(request) && request.body.messages.at(-1).content === question,
    ).length;

  test("a question whose request breaks is told as unsent, and goes out again by itself", async () => {
    const { page } = await pages.open("/");
    const broken = await intercept(page, (route) => route.abort("connectionreset"));
    await ask(page, "Does it arrive?");
    await page.getByText(/^Not sent yet. Sending again in \d+ s\.$/).waitFor();
    expect(await page.getByText(/Generating on the server/).count()).toBe(0);
    broken.end();
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.getByText(/Not sent yet/).waitFor({ state: "detached" });
    expect(asked("Does it arrive?")).toBe(1);
  });

  test("an unsent question goes out at once when somebody says so", async () => {
    const { page } = await pages.open("/");
    const broken = await intercept(page, (route) => route.abort("connectionreset"));
    await ask(page, "And now?");
    await page.getByText(/^Not sent yet. Sending again in [4-9] s\.$/).waitFor();
    broken.end();
    await page.getByRole("button", { name: "Send now" }).click();
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    expect(asked("And now?")).toBe(1);
  });

  test("a second question whose request breaks is told as unsent as well", async () => {
    const { page } = await pages.open("/");
    const broken = await intercept(page, (route) => route.abort("connectionreset"));
    await ask(page, "One");
    await page.getByText(/^Not sent yet/).waitFor();
    broken.end();
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await intercept(page, (route) => route.abort("connectionreset"));
    await ask(page, "Two");
    await page.getByText(/^Not sent yet/).waitFor();
  });

  test("an unsent question goes out when the device is online again, and Stop takes it back", async () => {
    const { page, context } = await pages.open("/");
    await ask(page, "Before");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await context.setOffline(true);
    await ask(page, "From the tunnel");
    await page.getByText("Not sent yet. It is sent when you are online again.").waitFor();
    await context.setOffline(false);
    await expect.poll(() => page.getByText("The wheel turns.", { exact: true }).count()).toBe(2);

    await intercept(page, (route) => route.abort("connectionreset"));
    await ask(page, "Never mind");
    await page.getByText(/^Not sent yet/).waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await page.getByRole("article", { name: "You" }).getByText("Never mind").waitFor({ state: "detached" });
    await expect.poll(() => fieldOf(page).inputValue()).toBe("Never mind");
    expect(await page.getByRole("button", { name: "Stop the reply" }).count()).toBe(0);
  });

  test("a reply that is written although the answer to its request was lost is followed and can be stopped", async () => {
    const reply = writtenReply();
    pages.upstream.reply(isReply, reply.script);
    const { page } = await pages.open("/");
    await intercept(page, async (route) => {
      await forward(route);
      await route.abort("connectionreset");
    });
    await ask(page, "Was it heard?");
    reply.write("It was. ");
    await page.getByText("It was.").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByText(/Not sent yet/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop the reply" }).click();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    expect(await fieldOf(page).inputValue()).toBe("");
    expect(asked("Was it heard?")).toBe(1);
  });

  test("what is taken back while its request is on the way is stopped and removed everywhere", async () => {
    const { page } = await pages.open("/");
    const holds: PromiseWithResolvers<void>[] = [];
    const taken = await intercept(page, async (route) => {
      const hold = Promise.withResolvers<void>();
      holds.push(hold);
      const response = await forward(route);
      await hold.promise;
      await route.fulfill({ response });
    });
    const takeBack = async (question: string) => {
      // It says nothing before it is stopped: the page has no word of the server's.
      pages.upstream.reply(isReply, writtenReply().script);
      const before = holds.length;
      await ask(page, question);
      await expect.poll(() => asked(question)).toBe(1);
      await page.keyboard.press("Escape");
      await expect.poll(() => fieldOf(page).inputValue()).toBe(question);
      expect(await page.getByRole("article", { name: "You" }).getByText(question).count()).toBe(0);
      const [hold] = holds.slice(before);
      hold?.resolve();
      await pages.upstream.socketsAtMost(0);
      await write(fieldOf(page), "");
    };
    const chats = async () => (await pages.admin.call("GET /api/v1/chats/list")).body.length as number;
    const before = await chats();
    await takeBack("A slip of the finger");
    await expect.poll(chats).toBe(before);
    expect(new URL(page.url()).pathname).toBe("/");

    taken.end();
    await ask(page, "This one stays");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    taken.begin();
    await takeBack("Another slip");
    const id = new URL(page.url()).pathname.slice(3);
    await expect.poll(async () => JSON.stringify(await pages.admin.read(id))).not.toContain("Another slip");
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(1);
    expect(await page.getByRole("button", { name: "Stop the reply" }).count()).toBe(0);
  });

  test("a first message that the server holds for long is waited for, and opens its chat", async () => {
    const { page } = await pages.open("/");
    let conflicts = 0;
    const holding = await intercept(page, (route) => {
      conflicts += 1;
      return conflicts === 1
        ? route.abort("connectionreset")
        : route.fulfill({
            status: 409,
            headers: { "retry-after": "0" },
            json: { detail: "A request with this Idempotency-Key is still running. Send it again later." },
          });
    });
    await ask(page, "Is it slow today?");
    await expect.poll(() => conflicts).toBeGreaterThan(10);
    await page.getByText("Waiting for the server", { exact: true }).waitFor();
    expect(await page.getByText(/Not sent yet/).count()).toBe(0);
    holding.end();
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    expect(await page.getByText("Waiting for the server").count()).toBe(0);
    expect(asked("Is it slow today?")).toBe(1);
  });

  test("a first message whose reply is written while the server holds it opens its chat at once", async () => {
    const reply = writtenReply();
    pages.upstream.reply(isReply, reply.script);
    const { page } = await pages.open("/");
    let tries = 0;
    await intercept(page, async (route) => {
      tries += 1;
      if (tries === 1) {
        await forward(route);
        await route.abort("connectionreset");
      } else {
        await route.fulfill({
          status: 409,
          headers: { "retry-after": "1" },
          json: { detail: "Still running." },
        });
      }
    });
    await ask(page, "Is it heard?");
    await expect.poll(() => tries).toBeGreaterThan(1);
    reply.write("It is. ");
    await page.getByText("It is.").waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    await page.getByText("Waiting for the server").waitFor({ state: "detached" });
    reply.end();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    expect(asked("Is it heard?")).toBe(1);
  });

  test("a first message that is refused comes back into the field with the reason, and can be sent again", async () => {
    const { page } = await pages.open("/");
    const refusing = await intercept(page, (route) =>
      route.fulfill({
        status: 429,
        headers: { "retry-after": "30" },
        json: { detail: "Too many requests." },
      }),
    );
    await ask(page, "May I come in?");
    await page.getByText("Too many requests.").waitFor();
    await page.getByText(/^You can send it again in \d+ s\.$/).waitFor();
    expect(await fieldOf(page).inputValue()).toBe("May I come in?");
    expect(await page.getByRole("article").count()).toBe(0);
    refusing.end();
    await fieldOf(page).press("Enter");
    await page.getByText("The wheel turns.", { exact: true }).waitFor();
    await page.waitForURL(/\/c\/[^/]+$/);
    expect(asked("May I come in?")).toBe(1);
    await ask(page, "And again?");
    await expect.poll(() => page.getByText("The wheel turns.", { exact: true }).count()).toBe(2);
  });
});
