import type { Answer, App, TestUser } from "#test/support/app.ts";

/** What one account does with folders over HTTP. */
export interface FolderClient {
  readonly user: TestUser;
  /** `METHOD /rest` below `/api/v1/folders`. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Makes a folder and answers its id; fails when that fails. */
  make(name: string, more?: Record<string, unknown>): Promise<string>;
  /** Names of one's own folders, those inside others as `parent/child`. */
  names(): Promise<string[]>;
}

export function folderClient(app: App, user: TestUser): FolderClient {
  const call: FolderClient["call"] = (route, body) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return user.call(`${method} /api/v1/folders${path}`, body);
  };
  return {
    user,
    call,
    async make(name, more = {}) {
      const { status, body, text } = await call("POST /", { name, ...more });
      if (status !== 200) {
        throw new Error(`${status}: ${text}`);
      }
      return body.id;
    },
    async names() {
      const rows = (await call("GET /")).body as { id: string; name: string; parent_id: string | null }[];
      const byId = new Map(rows.map((row) => [row.id, row]));
      const toPath = (id: string): string => {
        const { name, parent_id } = byId.get(id) as (typeof rows)[number];
        return parent_id === null ? name : `${toPath(parent_id)}/${name}`;
      };
      return rows.map(({ id }) => toPath(id)).toSorted();
    },
  };
}

/** Gives members permissions by a group of their own. */
export async function permit(
  app: App,
  members: readonly TestUser[],
  permissions: Record<string, Record<string, boolean>>,
): Promise<string> {
  const admin = await app.admin();
  const name = `Group of ${members.map(({ id }) => id).join(" ")}`;
  const made = await admin.call("POST /api/v1/groups/create", { name, description: "", permissions });
  await admin.call(`POST /api/v1/groups/id/${made.body.id}/users/add`, {
    user_ids: members.map(({ id }) => id),
  });
  return made.body.id;
}

/** Sets variables while the app runs. */
export async function setVariables(app: App, values: Record<string, unknown>): Promise<void> {
  const admin = await app.admin();
  const { status, text } = await admin.call("POST /api/v1/configs/settings", values);
  if (status !== 200) {
    throw new Error(`${status}: ${text}`);
  }
}

/** A grant for a person or a group. */
export function grant(id: string, permission: "read" | "write" = "read", principal_type = "user") {
  return { principal_type, principal_id: id, permission };
}
