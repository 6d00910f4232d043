import { definePlugin } from "#kernel/plugin.ts";
import { configuration } from "#kernel/services.ts";
import { outsideSignIn } from "#plugins/accounts/service.ts";
import { ldapVariables } from "./config.ts";
import { createDirectory } from "./directory.ts";
import { ldapRoutes } from "./routes.ts";

export default definePlugin({
  id: "ldap",
  title: "Directory (LDAP)",
  summary: "Sign-in with the password of a directory, and its groups.",
  config: ldapVariables,
  uses: { configuration, outsideSignIn },
  pages: [
    {
      id: "ldap",
      path: "/admin/directory",
      title: "Directory",
      icon: "contact",
      place: "admin",
      group: "people",
      order: 62,
      access: "admin",
    },
  ],

  setup({ config, use, log }) {
    const { configuration, outsideSignIn: signIn } = use;
    const directory = createDirectory(() => config);
    return { routes: { api: ldapRoutes({ config, configuration, directory, signIn, log }) } };
  },
});
