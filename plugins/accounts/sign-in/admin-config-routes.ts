import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { AdminConfig } from "./admin-config.ts";

const Fields = z.record(z.string(), z.unknown());

/** `/api/v1/auths/admin/config`: the general settings, by the names of their variables (appendix A2). */
export function adminConfigRoutes({ adminConfig }: { adminConfig: AdminConfig }) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/admin/config",
        summary: "Read the general settings",
        access: "admin",
        returns: Fields,
      },
      () => adminConfig.read(),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/admin/config",
        summary: "Change general settings; fields left out keep their value",
        access: "admin",
        body: Fields,
        returns: Fields,
      },
      ({ caller, body }) => adminConfig.update(body, caller.userId),
    ),
  ];
}
