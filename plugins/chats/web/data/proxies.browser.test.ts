import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { type HttpProxy, type HttpProxyOptions, startHttpProxy } from "#test/support/http-proxy.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { writtenReply } from "#test/support/upstream-written.ts";
import { ask, isReply } from "../chat-pages.fixture.ts";

describeInterface("chats behind proxies", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let token: string;
  const proxies: HttpProxy[] = [];

  setUp(async (keep) => {
    world = await keep(startAppWithUpstream());
    world.upstream.always("/chat/completions", text("The wheel turns."));
    ({ token } = await world.app.admin());
  });
  afterAll(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));

  /** A page of the platform behind a proxy. */
  async function openBehind(options: HttpProxyOptions) {
    const target = { host: "127.0.0.1", port: Number(new URL(world.app.url).port) };
    const proxy = await startHttpProxy(target, options);
    proxies.push(proxy);
    const { page } = await openPage({ url: `http://127.0.0.1:${proxy.port}`, token });
    return { page, proxy };
  }

  /** Asks, and sees the reply grow before it is whole. */
  async function chatLive(page: Page): Promise<void> {
    const reply = writtenReply();
    world.upstream.reply(isReply, reply.script);
    await ask(page, "Does it turn?");
    reply.write("One turn. ");
    await page.getByText("One turn.").waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor();
    reply.write("Two turns.");
    reply.end();
    await page.getByText("One turn. Two turns.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
  }

  test("replies grow over HTTP behind a proxy that strips upgrades, and the page says so", async () => {
    const { page } = await openBehind({});
    await page.getByText("Live updates over HTTP").waitFor();
    await chatLive(page);
  });

  test("replies grow by polling behind a proxy that buffers, and the page says so", async () => {
    const { page } = await openBehind({ buffers: true });
    await page.getByText("Live updates by polling").waitFor();
    await chatLive(page);
  });

  test("a reply goes on over a proxy that cuts every connection, with nothing missing and nothing twice", async () => {
    const { page, proxy } = await openBehind({ cutsAfterMs: 3000 });
    await page.getByText("Live updates over HTTP").waitFor();
    const reply = writtenReply();
    world.upstream.reply(isReply, reply.script);
    await ask(page, "Count for me");
    let said = "";
    for (const word of ["one ", "two ", "three ", "four "]) {
      const before = proxy.cuts;
      said += word;
      reply.write(word);
      await page.getByText(said.trim(), { exact: true }).waitFor();
      await expect.poll(() => proxy.cuts).toBeGreaterThan(before);
    }
    reply.end();
    await page.getByRole("button", { name: "Stop the reply" }).waitFor({ state: "detached" });
    expect(await page.getByText(said.trim(), { exact: true }).count()).toBe(1);
  });

  test("uses the WebSocket where the proxy passes it on", async () => {
    const { page } = await openBehind({ passesUpgrades: true });
    await chatLive(page);
    expect(await page.getByText(/^Live updates/).count()).toBe(0);
  });
});
