import type { App, TestUser } from "#test/support/app.ts";

/** A client of administrators for apps. */
export interface AppAdmin {
  /** `METHOD /rest` below `/api/v1/apps`. */
  call: (route: string, body?: unknown, token?: string) => ReturnType<App["call"]>;
  /** Registers an app; fails when that fails. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  register(manifest: object): Promise<any>;
  /** Adds an app to a channel. */
  install(channelId: string, appId: string, token?: string): ReturnType<App["call"]>;
}

export function appAdmin(app: App, admin: TestUser): AppAdmin {
  const call: AppAdmin["call"] = (route, body, token = admin.token) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return app.call(`${method} /api/v1/apps${path}`, { token, ...(body === undefined ? {} : { body }) });
  };
  return {
    call,
    async register(manifest) {
      const { status, body, text } = await call("POST /create", {
        manifest: { name: "Helper", ...manifest },
      });
      if (status !== 200) {
        throw new Error(`the app could not be registered: ${status}: ${text}`);
      }
      return body;
    },
    install: (channelId, appId, token) => call(`POST /channels/${channelId}/add`, { app_id: appId }, token),
  };
}

/** All scopes there are. */
export const allScopes = ["messages:read", "messages:write", "reactions:write", "members:read"];
