import { channelClient, type ChannelClient } from "#plugins/channels/channels.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Received, type Receiver, startReceiver } from "#test/support/receiver.ts";

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

/** A platform with apps and channels, a person beside the administrator, and a place that takes events. */
export interface AppStage {
  readonly app: App;
  readonly admin: TestUser;
  readonly person: TestUser;
  readonly apps: AppAdmin;
  readonly receiver: Receiver;
  /** Channels as the administrator has them, and as the person has. */
  readonly boss: ChannelClient;
  readonly people: ChannelClient;
  /** The posts to one path of the receiver. */
  at(path: string): Received[];
  /** Makes a channel of both. */
  group(name: string): Promise<string>;
  /** Registers an app with all scopes that hears at a path of the receiver. */
  helper(path: string, more?: object): ReturnType<AppAdmin["register"]>;
  /** Calls `METHOD /rest` below `/api/v1` with a key. */
  as(key: string): (route: string, body?: unknown) => ReturnType<App["call"]>;
  close(): Promise<void>;
}

export async function startAppStage(): Promise<AppStage> {
  const receiver = await startReceiver();
  const app = await startApp({
    env: { ENABLE_CHANNELS: "true", ENABLE_APPS: "true", APP_ALLOWED_PRIVATE_ORIGINS: receiver.url },
  });
  const [admin, person] = [await app.admin(), await app.user()];
  const [apps, boss] = [appAdmin(app, admin), channelClient(app, admin)];
  return {
    app,
    admin,
    person,
    apps,
    receiver,
    boss,
    people: channelClient(app, person),
    at: (path) => receiver.received.filter((one) => one.path === `/${path}`),
    group: (name) => boss.make({ name, type: "group", user_ids: [person.id] }),
    helper: (path, more = {}) =>
      apps.register({ url: `${receiver.url}/${path}`, scopes: allScopes, events: [], ...more }),
    as: (key) => (route, body) => {
      const [method, path] = route.split(" ", 2) as [string, string];
      return app.call(`${method} /api/v1${path}`, { token: key, ...(body === undefined ? {} : { body }) });
    },
    async close() {
      await app.close();
      await receiver.close();
    },
  };
}
