import type { Principal } from "#kernel/access/principal.ts";
import type { Access, Action, Loader } from "#kernel/access/resource.ts";
import type { Slot } from "#kernel/service.ts";
import type { FileFacts } from "./record.ts";
import type { FileReferences } from "./service.ts";
import type { FileStore } from "./store.ts";

export interface FileLoaders {
  /** For owners and admins only. */
  readonly owned: Loader<FileFacts>;
  /** Also through whatever refers to the file and the caller may see. */
  readonly reachable: Loader<FileFacts>;
  /** The same without reading the text. */
  readonly bare: Loader<FileFacts>;
}

/** The ways from an id to a file. */
export function createFileLoaders(
  store: FileStore,
  access: Access,
  references: Slot<FileReferences>,
): FileLoaders {
  const through = {
    async reachable(principal: Principal, { id }: FileFacts, action: Action): Promise<boolean> {
      for (const reference of references.list()) {
        if (await reference.isReachable(principal, id, action)) {
          return true;
        }
      }
      return false;
    },
  };
  const bare = resource((id) => store.findBare(id));
  return {
    owned: access.loader(bare),
    reachable: access.loader({ ...resource((id) => store.find(id)), ...through }),
    bare: access.loader({ ...bare, ...through }),
  };
}

function resource(find: (id: string) => Promise<FileFacts | undefined>) {
  return {
    type: "file",
    find: async (id: string) => (isId(id) ? find(id) : undefined),
    ownerOf: (row: FileFacts) => row.user_id,
  };
}

/** Ids are UUIDs; anything else cannot exist, and the database would choke on some of it. */
function isId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}
