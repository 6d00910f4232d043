import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [
    async () => (await import("./entries.ts")).settingEntries(),
    async () => await (await import("./admin/entries.ts")).variableEntries(),
  ],
  pages: {
    "settings.interface": () => import("./InterfacePage.svelte"),
    "settings.about": () => import("./AboutPage.svelte"),
    "settings.announcements": () => import("./admin/AnnouncementsPage.svelte"),
    "settings.all": () => import("./admin/SettingsPage.svelte"),
  },
});
