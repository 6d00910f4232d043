import { definePlugin } from "#kernel/plugin.ts";
import { pageRoutes } from "./routes.ts";

export default definePlugin({
  id: "web",
  title: "Web pages",
  async setup() {
    return { routes: { main: await pageRoutes() } };
  },
});
