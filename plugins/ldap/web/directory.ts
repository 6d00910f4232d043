import { server } from "#plugins/web/kit/server.ts";

export const readServer = () => server.call("GET /api/v1/auths/admin/config/ldap/server");
export type Server = Awaited<ReturnType<typeof readServer>>;

/** Signs nobody in. */
export const tryLogin = (body: { user: string; password: string }) =>
  server.call("POST /api/v1/auths/admin/config/ldap/try", { body });
export type Tried = Awaited<ReturnType<typeof tryLogin>>;
