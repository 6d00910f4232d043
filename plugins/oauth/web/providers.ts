import { server } from "#plugins/web/kit/server.ts";

export const readProviders = () => server.call("GET /api/v1/auths/admin/oauth/providers");
export type Provider = Awaited<ReturnType<typeof readProviders>>["providers"][number];

export const checkProvider = (provider: string) =>
  server.call("POST /api/v1/auths/admin/oauth/providers/:provider/check", { params: { provider } });
export type Check = Awaited<ReturnType<typeof checkProvider>>;

/** Signs nobody in. */
export const readTrial = (id: string) =>
  server.call("GET /api/v1/auths/admin/oauth/trials/:id", { params: { id } });
export type Trial = Awaited<ReturnType<typeof readTrial>>;
