import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Loader } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { GatewayDatabase, WorkspaceTable } from "../tables.ts";
import { type Folders, overlaps, toFolder } from "./folders.ts";

export type Workspace = Readonly<WorkspaceTable>;

export interface WorkspaceForm {
  readonly name: string;
  readonly folder: string;
  readonly model?: string | null | undefined;
  readonly instructions?: string | undefined;
}

/** The workspaces of accounts. Nobody but the owner reaches one, administrators neither. */
export interface Workspaces {
  list(owner: Principal): Promise<Workspace[]>;
  /** Throws `not_found` for those of others. */
  load(owner: Principal, id: string): Promise<Workspace>;
  /** The workspace behind `gw/<folder>`; undefined for an unknown or foreign one. */
  byModel(owner: Principal, model: string): Promise<Workspace | undefined>;
  /** Throws `invalid` for a folder that cannot be one, `conflict` for one that is taken. */
  create(owner: Principal, form: WorkspaceForm): Promise<Workspace>;
  update(owner: Principal, id: string, change: Partial<Omit<WorkspaceForm, "folder">>): Promise<Workspace>;
  /** Forgets the record; the folder and its files stay. */
  remove(owner: Principal, id: string): Promise<Workspace>;
}

/** The model id of a workspace (document 2, Gateway model and key). */
export function toModelId({ slug }: Pick<Workspace, "slug">): string {
  return `gw/${slug}`;
}

export interface WorkspacesOptions {
  readonly db: GatewayDatabase;
  readonly access: Access;
  readonly folders: Folders;
}

export function createWorkspaces({ db, access, folders }: WorkspacesOptions): Workspaces {
  const loader: Loader<Workspace> = access.loader<Workspace>({
    type: "gateway_workspace",
    find: (id) => db.selectFrom("gateway_workspace").selectAll().where("id", "=", id).executeTakeFirst(),
    ownerOf: ({ user_id: owner }) => owner,
    adminPasses: false,
  });
  const load = (owner: Principal, id: string) => loader.load(owner, id, "write");
  return {
    load,
    list: ({ userId }) =>
      db.selectFrom("gateway_workspace").selectAll().where("user_id", "=", userId).orderBy("slug").execute(),
    async byModel({ userId }, model) {
      if (!model.startsWith("gw/")) {
        return undefined;
      }
      return await db
        .selectFrom("gateway_workspace")
        .selectAll()
        .where("user_id", "=", userId)
        .where("slug", "=", model.slice("gw/".length))
        .executeTakeFirst();
    },
    async create(owner, { name, folder: wanted, model, instructions = "" }) {
      const folder = toFolder(wanted);
      const others = await db.selectFrom("gateway_workspace").select(["folder", "user_id", "slug"]).execute();
      if (others.some((other) => overlaps(folder, other.folder))) {
        throw new AppError("conflict", `folder: ${folder} is, holds or lies in the folder of a workspace.`);
      }
      await folders.make(folder);
      const own = others.filter(({ user_id: id }) => id === owner.userId).map(({ slug }) => slug);
      const now = seconds();
      const row: Workspace = {
        id: randomUUID(),
        user_id: owner.userId,
        name,
        folder,
        slug: toSlug(folder, new Set(own)),
        model: model || null,
        instructions,
        created_at: now,
        updated_at: now,
      };
      await db.insertInto("gateway_workspace").values(row).execute();
      return row;
    },
    async update(owner, id, { name, model, instructions }) {
      await load(owner, id);
      return await db
        .updateTable("gateway_workspace")
        .set({
          updated_at: seconds(),
          ...(name !== undefined && { name }),
          ...(model !== undefined && { model: model || null }),
          ...(instructions !== undefined && { instructions }),
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
    },
    async remove(owner, id) {
      const workspace = await load(owner, id);
      await db.deleteFrom("gateway_workspace").where("id", "=", id).execute();
      return workspace;
    },
  };
}

/** The folder's name, with `-2`, `-3` … where its owner has a workspace of that name already. */
function toSlug(folder: string, taken: ReadonlySet<string>): string {
  const name = folder.split("/").at(-1) as string;
  let [slug, count] = [name, 1];
  while (taken.has(slug)) {
    count += 1;
    slug = `${name}-${count}`;
  }
  return slug;
}
