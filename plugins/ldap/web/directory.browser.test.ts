import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { expectNoAxeFindings } from "#test/support/interface.ts";
import { directoryBase, hasSlapd, startDirectory, type TestDirectory } from "../slapd.fixture.ts";

let directory: TestDirectory;
let app: App;
let page: Page;
let token: string;

describe.skipIf(!hasSlapd)("where a directory server is installed", () =>
  describeInterface("the page of the directory", ({ setUp, openPage }) => {
    setUp(async (keep) => {
      const attributes = {
        objectClass: "inetOrgPerson",
        cn: "Ada",
        sn: "Ada",
        mail: "ada@mill.test",
        userPassword: "right",
      };
      directory = await keep(
        startDirectory([{ dn: `uid=ada,${directoryBase}`, attributes: { ...attributes, uid: "ada" } }]),
      );
      const env = {
        LDAP_SERVER_HOST: "127.0.0.1",
        LDAP_SERVER_PORT: String(directory.port),
        LDAP_USE_TLS: "false",
        LDAP_APP_DN: directory.appDn,
        LDAP_APP_PASSWORD: directory.appPassword,
        LDAP_SEARCH_BASE: directoryBase,
      };
      app = await keep(startApp({ env }));
      ({ token } = await app.admin());
    });
    beforeEach(async () => {
      ({ page } = await openPage({ url: app.url, token, path: "/admin/directory" }));
    });

    async function tryLogin(user: string, password: string): Promise<void> {
      await write(page.getByLabel("Name in the directory"), user);
      await write(page.getByLabel("Password", { exact: true }), password);
      await page.getByRole("button", { name: "Test", exact: true }).click();
    }

    test("tries a login step by step", async () => {
      await page.getByText(`searches below ${directoryBase}`).waitFor();
      await tryLogin("ada", "wrong");
      await page.getByText("Would not sign in").waitFor();
      await page.getByText("The password is not right.", { exact: true }).waitFor();
      await tryLogin("ada", "right");
      await page.getByText("Would make an account for Ada").waitFor();
      await page.getByText("ada@mill.test").waitFor();
      await expectNoAxeFindings(page);
    });

    test("switches the sign-in on, and the sign-in page then offers it", async () => {
      await page.getByRole("switch", { name: "People may sign in at the directory" }).click();
      await expect
        .poll(async () => (await app.call("GET /api/config")).body.features.enable_ldap, { timeout: 10_000 })
        .toBe(true);
      const { page: visitor } = await openPage({ url: app.url });
      await visitor.getByRole("button", { name: "Sign in with the directory" }).click();
      await write(visitor.getByLabel("User name"), "ada");
      await write(visitor.getByLabel("Password", { exact: true }), "right");
      await visitor.keyboard.press("Enter");
      await expect
        .poll(async () => (await visitor.context().cookies()).some(({ name }) => name === "token"), {
          timeout: 10_000,
        })
        .toBe(true);
    });
  }),
);
