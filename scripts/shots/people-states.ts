import type { Page } from "playwright-core";
import type { State } from "./state.ts";

async function openUser(page: Page): Promise<void> {
  await page.goto("/admin/users");
  await page.getByRole("table").getByRole("link").first().click();
  await page.getByRole("heading", { name: "Groups" }).waitFor();
}

/** Opens the group of this name; the first state that needs it adds it. */
async function openGroup(page: Page, name: string): Promise<void> {
  await page.goto("/admin/groups");
  await page.getByText(/^\d+ groups?$/).waitFor();
  const link = page.getByRole("link", { name });
  if ((await link.count()) > 0) {
    await link.click();
  } else {
    await page.getByRole("button", { name: "Add a group" }).click();
    await page.getByLabel("Name of the new group").fill(name);
    await page.getByRole("button", { name: "Add", exact: true }).click();
  }
  await page.getByRole("heading", { name: "Permissions" }).waitFor();
}

/** Pages of administrators about people. */
export const peopleStates: readonly State[] = [
  { name: "admin-users", show: (page) => page.goto("/admin/users") },
  { name: "admin-user", looks: ["desk-light", "desk-dark", "phone-light"], show: openUser },
  {
    name: "admin-user-view-as",
    looks: ["desk-light", "phone-dark"],
    show: async (page) => {
      await openUser(page);
      await page.getByRole("button", { name: "Show permissions" }).click();
      await page.getByLabel("Search permissions").fill("share");
      await page.getByRole("heading", { name: /^Why can/ }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "admin-group",
    looks: ["desk-light", "phone-light"],
    show: (page) => openGroup(page, "Millers"),
  },
  { name: "admin-groups", looks: ["desk-dark"], show: (page) => page.goto("/admin/groups") },
  { name: "admin-permissions", show: (page) => page.goto("/admin/permissions") },
  {
    name: "admin-provisioning",
    looks: ["desk-light", "desk-dark", "phone-light"],
    show: async (page) => {
      await page.goto("/admin/scim");
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await page.getByText(/^All \d+ calls/).waitFor();
    },
  },
];
