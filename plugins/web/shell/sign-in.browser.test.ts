import { expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";

/** Two busy cores may take longer than the default second. */
const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000 });

describeInterface("the sign-in form", ({ setUp, openPage }) => {
  let app: App;

  setUp(async (keep) => {
    app = await keep(
      startApp({
        env: {
          ENABLE_SIGNUP: "true",
          ENABLE_PASSWORD_VALIDATION: "true",
          PASSWORD_VALIDATION_REGEX_PATTERN: "[0-9]",
          PASSWORD_VALIDATION_HINT: "Put a digit in it.",
        },
      }),
    );
  });

  test("the form tells the rules of passwords before it refuses, and the page can be installed", async () => {
    const { token } = await app.admin();
    const { page, context, close } = await openPage({ url: app.url, path: "/auth", size: "phone" });
    await page.getByRole("button", { name: "Forgot password?" }).click();
    await page.getByText("An administrator can send you a link").waitFor();
    await page.getByRole("button", { name: "No account yet? Create one" }).click();
    const password = page.getByLabel("Password");
    expect(
      await password.evaluate(
        (field) => document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent,
      ),
    ).toMatch(/digit/);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Name is required").waitFor();
    await page.getByText("E-mail address is required").waitFor();
    await page.getByText("Password is required").waitFor();
    await page.getByRole("button", { name: "Show characters" }).click();
    await expectNoAxeFindings(page);
    await write(page.getByLabel("Name"), "Bo");
    await write(page.getByLabel("E-mail"), "bo@mill.example");
    await write(password, "no digits in here");
    await page.getByRole("button", { name: "Create account" }).click();
    await poll(() => password.getAttribute("aria-invalid")).toBe("true");
    await page.getByText("Put a digit in it.").waitFor();
    expect(await password.inputValue()).toBe("no digits in here");
    expect(await password.getAttribute("type")).toBe("text");
    await write(page.getByLabel("E-mail"), "admin@example.test");
    await write(password, "4 digits in here");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("This e-mail address is taken.").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("Bo");

    const devtools = await context.newCDPSession(page);
    const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
    // A window of a test is a private one; nothing else may stand in the way.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual(
      [],
    );
    const manifest = (await app.call("GET /manifest.json")).body;
    for (const { src, type } of manifest.icons as { src: string; type: string }[]) {
      const icon = await app.call(`GET ${src}`);
      expect([icon.status, icon.headers.get("content-type")?.split(";")[0]]).toEqual([200, type]);
    }
    await close();

    const account = await openPage({ url: app.url, token, path: "/settings/account" });
    await account.page.getByText("At least 8 characters. Put a digit in it.").waitFor();
    await account.close();
  });

  test("a tab that connects again to another release offers to load it", async () => {
    const { token } = await app.admin();
    const { page } = await openPage({ url: app.url, token });
    const connected = Promise.withResolvers<() => void>();
    await page.routeWebSocket("**/ws", (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        socket.send(message);
        connected.resolve(() => void socket.close());
      });
    });
    await page.reload();
    const { body: running } = await app.call("GET /api/version");
    await page.getByText("How can I help").waitFor();
    // The next release answers in the place of this one, as after a deploy.
    await page.route("**/api/version", (route) => route.fulfill({ json: { ...running, version: "99.0.0" } }));
    const disconnect = await connected.promise;
    disconnect();
    await page.getByText("A new version is ready.").waitFor();
    await expectNoAxeFindings(page);
    await page.unroute("**/api/version");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByText("A new version is ready.").waitFor({ state: "detached" });
    await page.getByText("How can I help").waitFor();
  });
});
