import { expect, test, onTestFinished } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { openBrowser, wholeChromiumPath } from "#test/support/browser.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { type Receiver, startReceiver } from "#test/support/receiver.ts";

/** The part of a service worker's scope that tells who looks at the pages. */
interface WorkerScope {
  readonly clients: {
    matchAll(options: {
      readonly type: "window";
      readonly includeUncontrolled: boolean;
    }): Promise<readonly { readonly focused: boolean }[]>;
  };
}

describeInterface("the pages of notifications", ({ setUp, openPage }) => {
  let app: App;
  let receiver: Receiver;

  setUp(async (keep) => {
    receiver = await keep(startReceiver());
    app = await keep(
      startApp({
        env: { ENABLE_USER_WEBHOOKS: "true", EGRESS_ALLOWED_PRIVATE_ORIGINS: receiver.url },
      }),
    );
  });

  const signUp = (name: string) =>
    app.call("POST /api/v1/auths/signup", {
      body: { name, email: `${name.toLowerCase()}@example.org`, password: "a long password" },
    });

  test("lists what is new at once, marks it, and takes it away", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token, path: "/notifications" });
    await page.getByText("Nothing new.").waitFor();
    await signUp("Greta");
    const list = page.getByRole("main").getByRole("list", { name: "Notifications" });
    await list.getByText("Greta", { exact: true }).waitFor();
    await page.getByText("New account: Greta").waitFor();
    await page.getByRole("navigation", { name: "Sidebar" }).getByTitle("1 unread").waitFor();
    await expectNoAxeFindings(page);
    await page.getByRole("button", { name: "Mark all as read" }).click();
    await list.getByText("Unread").waitFor({ state: "detached" });
    await page.getByTitle("1 unread").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Delete “Greta”" }).click();
    await page.getByText("Nothing new.").waitFor();
  });

  test.skipIf(!wholeChromiumPath)(
    "shows a push while nobody looks, and stays silent before open eyes",
    async () => {
      const { token } = await app.admin();
      const browser = await openBrowser([], wholeChromiumPath);
      onTestFinished(() => browser.close());
      const { page, context } = await openPage({ browser, url: app.url, token, path: "/notifications" });
      await context.grantPermissions(["notifications"], { origin: app.url });
      const devtools = await context.newCDPSession(page);
      const found = new Promise<string>((resolve) => {
        devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
          const own = registrations.find(({ scopeURL }) => scopeURL.includes("/notifications/"));
          if (own !== undefined) {
            resolve(own.registrationId);
          }
        });
      });
      await devtools.send("ServiceWorker.enable");
      await page.evaluate(async () => {
        await navigator.serviceWorker.register("/api/v1/notifications/worker.js");
      });
      await page.waitForFunction(async () => {
        const registration = await navigator.serviceWorker.getRegistration("/api/v1/notifications/");
        return registration?.active?.state === "activated";
      });
      const registrationId = await found;
      const push = (id: string) =>
        devtools.send("ServiceWorker.deliverPushMessage", {
          origin: app.url,
          registrationId,
          data: JSON.stringify({ id, title: "Mention", body: "The weir is open", path: "/channels/weir" }),
        });
      const shown = () =>
        page.evaluate(async () => {
          const registration = await navigator.serviceWorker.getRegistration("/api/v1/notifications/");
          const all = (await registration?.getNotifications()) ?? [];
          return all.map(({ tag, title, body, data }) => ({ tag, title, body, data }));
        });
      const focus = (enabled: boolean) => devtools.send("Emulation.setFocusEmulationEnabled", { enabled });

      await focus(true);
      await push("seen");
      await focus(false);
      // The window that a person turned to takes the focus from the page.
      const other = await context.newPage();
      await other.bringToFront();
      // The worker is told later than the page that nobody looks any more.
      const worker = context.serviceWorkers().find((each) => each.url().endsWith("/notifications/worker.js"));
      const isSeen = () =>
        worker?.evaluate(async () => {
          const { clients } = globalThis as unknown as WorkerScope;
          const open = await clients.matchAll({ type: "window", includeUncontrolled: true });
          return open.some(({ focused }) => focused);
        });
      await expect.poll(isSeen).toBe(false);
      await push("unseen");
      const unseen = { tag: "unseen", title: "Mention", body: "The weir is open" };
      await expect.poll(shown).toEqual([{ ...unseen, data: { path: "/channels/weir" } }]);
    },
  );

  test("adds, tests, changes and deletes an address of the person", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token, path: "/settings/notifications" });
    await page.getByRole("button", { name: "Add an address" }).click();
    const dialog = page.getByRole("dialog");
    await write(dialog.getByRole("textbox", { name: "Address" }), "nowhere");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("write an address that begins with https://").waitFor();
    await write(dialog.getByRole("textbox", { name: "Address" }), `${receiver.url}/hooks/of-a-person`);
    await dialog.getByText("Always", { exact: true }).click();
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    const list = page.getByRole("list", { name: "Addresses" });
    await list.getByText(`${receiver.url}/…rson`).waitFor();
    await list.getByRole("button", { name: "Actions for" }).click();
    await page.getByRole("menuitem", { name: "Send a test" }).click();
    await page.getByText("The test has arrived.").waitFor();
    expect(receiver.received.at(-1)?.path).toBe("/hooks/of-a-person");
    await expectNoAxeFindings(page);
    await list.getByRole("button", { name: "Actions for" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await list.waitFor({ state: "detached" });
  });

  test("lets administrators tell a program of events, and shows what became of each", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token, path: "/admin/webhooks" });
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await write(dialog.getByRole("textbox", { name: "Name" }), "Office");
    await write(dialog.getByRole("textbox", { name: "Address" }), `${receiver.url}/hooks/of-the-office`);
    await write(dialog.getByRole("textbox", { name: "Events" }), "auth.signups");
    await dialog.getByText("No event fits auth.signups.").waitFor();
    await write(dialog.getByRole("textbox", { name: "Events" }), "auth.signup");
    await expectNoAxeFindings(page, "[role=dialog]");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Signing secret of Office").waitFor();
    await page.getByText(/^whsec_/).waitFor();
    // Shown this once: nothing closes it by the way.
    await page.getByRole("button", { name: "Dismiss" }).click();
    const question = page.getByRole("dialog", { name: "Close without keeping it?" });
    await question.getByRole("button", { name: "Go back" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await question.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByText(/^whsec_/).waitFor({ state: "detached" });
    await signUp("Otto");
    await expect
      .poll(() => receiver.received.map(({ path }) => path), { timeout: 20_000 })
      .toContain("/hooks/of-the-office");
    await page.getByRole("button", { name: "Actions for “Office”" }).click();
    await page.getByRole("menuitem", { name: "Deliveries" }).click();
    await dialog.getByText("New account: Otto <otto@example.org>").waitFor();
    await expectNoAxeFindings(page, "[role=dialog]");
  });
});
