import type { Principal } from "#kernel/access/principal.ts";
import type { FindTool } from "../parts.ts";
import type { ToolsDatabase } from "../tables.ts";
import { findVersion, listVersions } from "./tool-store.ts";

/** Every code a tool had, newest first, as far as they are kept, for those who may change it. */
export function createVersions(db: ToolsDatabase, find: FindTool) {
  return {
    async list(caller: Principal, id: string) {
      await find(caller, id);
      const versions = await listVersions(db, id);
      return versions.map((version, at) => ({ ...version, is_current: at === 0 }));
    },
    async find(caller: Principal, id: string, version: number) {
      await find(caller, id);
      return await findVersion(db, id, version);
    },
  };
}

export type Versions = ReturnType<typeof createVersions>;
