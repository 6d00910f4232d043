import type { Page } from "#kernel/page.ts";

const settings = { place: "settings", access: "user" } as const;
const admin = { place: "admin", group: "people", access: "admin" } as const;
const hidden = { place: "hidden", access: "admin" } as const;

/** The pages of one's own account, and of everybody's for administrators. */
export const pages: readonly Page[] = [
  {
    ...settings,
    id: "accounts.account",
    path: "/settings/account",
    title: "Account",
    icon: "user",
    order: 1,
  },
  {
    ...settings,
    id: "accounts.personalisation",
    path: "/settings/personalisation",
    title: "Personalisation",
    icon: "sparkles",
    order: 3,
  },
  { ...admin, id: "accounts.users", path: "/admin/users", title: "Users", icon: "users", order: 10 },
  { ...hidden, id: "accounts.user", path: "/admin/users/:id", title: "User" },
  { ...admin, id: "accounts.groups", path: "/admin/groups", title: "Groups", icon: "library", order: 12 },
  { ...hidden, id: "accounts.group", path: "/admin/groups/:id", title: "Group" },
  {
    ...admin,
    id: "accounts.permissions",
    path: "/admin/permissions",
    title: "Default permissions",
    icon: "key",
    order: 14,
  },
];
