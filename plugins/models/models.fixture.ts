import { type Answer, type App, startApp, type TestUser } from "#test/support/app.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { listStored } from "#plugins/files/client.fixture.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

/** An app over a scriptable upstream with the models `alpha` and `beta`, which only administrators may use. */
export interface ModelsApp {
  readonly app: App;
  readonly upstream: Upstream;
  readonly admin: TestUser;
  /** System events of models, oldest first. */
  readonly heard: readonly SystemEvent[];
  /** A member who may save, import and export models. */
  builder(permissions?: Record<string, Record<string, boolean>>): Promise<TestUser>;
  post(path: string, body: unknown, by?: TestUser): Promise<Answer>;
  get(path: string, by?: TestUser): Promise<Answer>;
  /** Ids of the model list as the account sees it. */
  listed(by: TestUser): Promise<string[]>;
  close(): Promise<void>;
}

export const everybody = { principal_type: "user", principal_id: "*", permission: "read" };
export const reads = ({ id }: { id: string }) => ({ ...everybody, principal_id: id });
export const writes = ({ id }: { id: string }) => ({ ...reads({ id }), permission: "write" });

export async function startModels(env: Record<string, string> = {}): Promise<ModelsApp> {
  const upstream = await startUpstream();
  upstream.models = ["alpha", "beta"];
  const heard: SystemEvent[] = [];
  const listener = definePlugin({
    id: "listener-test",
    title: "Listener",
    uses: { events },
    setup({ use }) {
      use.events.onSystemEvent((event) => void (event.event.startsWith("model.") && heard.push(event)));
      return {};
    },
  });
  const app = await startApp({
    plugins: [listener],
    env: { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "key", ENABLE_GUIDE: "false", ...env },
  });
  const admin = await app.admin();
  const get = (path: string, by = admin) => app.call(`GET ${toPath(path)}`, { token: by.token });
  await get("/api/models?refresh=true");
  return {
    app,
    upstream,
    admin,
    heard,
    get,
    async builder(permissions = { workspace: { models: true, models_import: true, models_export: true } }) {
      const member = await app.user();
      const group = await admin.call("POST /api/v1/groups/create", {
        name: `Builders ${member.id}`,
        description: "",
        permissions,
      });
      const path = `POST /api/v1/groups/id/${group.body.id}/users/add`;
      await admin.call(path, { user_ids: [member.id] });
      return member;
    },
    post: (path, body, by = admin) => app.call(`POST ${toPath(path)}`, { token: by.token, body }),
    listed: async (by) =>
      (await get("/api/models", by)).body.data.map(({ id }: { id: string }) => id) as string[],
    async close() {
      await app.close();
      await upstream.close();
    },
  };
}

/** Uploads a file that nothing is done with; resolves to its id. */
export async function upload(
  at: ModelsApp,
  by: TestUser,
  bytes: Buffer,
  name = "picture.png",
): Promise<string> {
  const body = new FormData();
  body.append(
    "file",
    new File([new Uint8Array(bytes)], name, { type: name.endsWith("png") ? "image/png" : "" }),
  );
  const answer = await at.app.call("POST /api/v1/files/?process=false", { token: by.token, body });
  return answer.body.id;
}

/** Everything that an import which was refused must leave as it was. */
export async function stateOf(at: ModelsApp) {
  const { rows } = await at.app.running.database.query("select * from model order by id");
  const grants = await at.app.running.database.query("select * from access_grant order by id");
  const files = await at.app.running.database.query("select id from file order by id");
  const bytes = (await listStored(at.app.running.config.dataDir)).toSorted();
  return { rows, grants: grants.rows, files: files.rows, bytes };
}

/** `create` is short for `/api/v1/models/create`. */
function toPath(path: string): string {
  return path.startsWith("/") ? path : `/api/v1/models/${path}`;
}
