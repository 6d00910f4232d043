import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Loader } from "#kernel/access/resource.ts";
import { type FunctionRow, findVersion, listVersions, type VersionRow } from "./function-store.ts";
import type { FunctionsDatabase } from "../tables.ts";

/** Every code a function had, newest first, as far as they are kept. */
export function createVersions(db: FunctionsDatabase, functions: Loader<FunctionRow>) {
  return {
    async list(caller: Principal, id: string) {
      await functions.load(caller, id, "write");
      const versions = await listVersions(db, id);
      return versions.map(({ function_id: _id, ...version }, at) => ({ ...version, is_current: at === 0 }));
    },
    async find(caller: Principal, id: string, version: number): Promise<Omit<VersionRow, "function_id">> {
      await functions.load(caller, id, "write");
      const row = await findVersion(db, id, version);
      if (row === undefined) {
        throw notFound();
      }
      const { function_id: _id, ...found } = row;
      return found;
    },
  };
}

export type Versions = ReturnType<typeof createVersions>;

function notFound(): AppError {
  return new AppError("not_found", "Not found");
}
