import type { Page } from "playwright-core";
import type { Look, State } from "./state.ts";

const all: readonly Look[] = ["desk-light", "desk-dark", "phone-light", "phone-dark"];

const account = (name: string, state: string, more: object = {}) => ({
  provider: `mcp:${name.toLowerCase()}`,
  name,
  description: `What ${name} keeps for the whole team`,
  host: `${name.toLowerCase()}.example`,
  state,
  since: state === "not_connected" ? null : 1_790_000_000,
  authorize_url: `/oauth/clients/mcp:${name.toLowerCase()}/authorize`,
  ...more,
});

async function showAccounts(page: Page, accounts: readonly object[]): Promise<void> {
  await page.route("**/api/v1/auths/oauth/sessions", (route) => route.fulfill({ json: accounts }));
  await page.goto("/settings/connected-accounts");
}

/** Servers that people sign in to. */
export const mcpStates: readonly State[] = [
  {
    name: "connected-accounts",
    looks: all,
    show: async (page) => {
      await showAccounts(page, [
        account("Calendar", "connected"),
        account("Tickets", "needs_sign_in"),
        account("Wiki", "not_connected"),
        account("former", "unavailable", { host: "", description: "", authorize_url: null }),
      ]);
      await page.getByText("no longer offered").waitFor();
    },
  },
  {
    name: "connected-accounts-empty",
    show: async (page) => {
      await showAccounts(page, []);
      await page.getByText("No server here asks you to sign in.").waitFor();
    },
  },
];
