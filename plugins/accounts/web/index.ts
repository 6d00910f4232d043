import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pages: {
    "accounts.account": () => import("./AccountPage.svelte"),
    "accounts.personalisation": () => import("./PersonalisationPage.svelte"),
    "accounts.users": () => import("./users/UsersPage.svelte"),
    "accounts.user": () => import("./users/UserPage.svelte"),
    "accounts.groups": () => import("./groups/GroupsPage.svelte"),
    "accounts.group": () => import("./groups/GroupPage.svelte"),
    "accounts.permissions": () => import("./access/DefaultPermissionsPage.svelte"),
  },
});
