import { definePlugin } from "#kernel/plugin.ts";

/**
 * The page of all upstreams. It is a plugin of its own, because the plugins whose connections it shows are switched off
 * and on there.
 */
export default definePlugin({
  id: "connections",
  title: "Connections",
  summary: "The page of all providers and runtimes.",
  pages: [
    {
      id: "connections",
      path: "/admin/connections",
      title: "Connections",
      icon: "plug",
      place: "admin",
      group: "models",
      order: 20,
      access: "admin",
    },
  ],
  setup: () => ({}),
});
