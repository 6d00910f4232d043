import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Action, Loader } from "#kernel/access/resource.ts";
import type { Slot } from "#kernel/service.ts";
import type { FileFacts } from "./record.ts";
import type { FileReferences } from "./service.ts";
import type { FileStore } from "./store.ts";

export interface FileLoaders {
  /** For owners and admins only. */
  readonly owned: Loader<FileFacts>;
  /** Also through whatever refers to the file and the caller may see; with its text. */
  readonly reachable: Loader<FileFacts>;
  /** The same without the text. */
  readonly bare: Loader<FileFacts>;
}

/** The ways from an id to a file. */
export function createFileLoaders(
  store: FileStore,
  access: Access,
  references: Slot<FileReferences>,
): FileLoaders {
  const through = {
    async reachableById(principal: Principal, id: string, action: Action): Promise<boolean> {
      for (const reference of references.list()) {
        if (await reference.isReachable(principal, id, action)) {
          return true;
        }
      }
      return false;
    },
  };
  const resource = {
    type: "file",
    find: async (id: string) => (isId(id) ? store.findBare(id) : undefined),
    ownerOf: (row: FileFacts) => row.user_id,
  };
  const bare = access.loader({ ...resource, ...through });
  return { owned: access.loader(resource), reachable: withText(bare, store), bare };
}

/** Reads the text once the caller is authorised: a foreign file costs what an absent one does, however long its text is. */
function withText(bare: Loader<FileFacts>, store: FileStore): Loader<FileFacts> {
  const find: Loader<FileFacts>["find"] = async (principal, id, action) => {
    const row = await bare.find(principal, id, action);
    return row && { ...row, content: await store.textOf(id) };
  };
  return {
    find,
    async load(principal, id, action) {
      const row = await bare.load(principal, id, action);
      return { ...row, content: await store.textOf(id) };
    },
  };
}

/** Ids are UUIDs; anything else cannot exist, and the database would choke on some of it. */
function isId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}
