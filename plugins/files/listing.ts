import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { ListStore, Owner, Page } from "./list-store.ts";
import { toLikePattern } from "./names.ts";
import { toRecord, toStorableText } from "./record.ts";
import type { FileRecord } from "./service.ts";

export interface Listing {
  /** A page of the caller's files, newest first. */
  list(principal: Principal, page: Page): Promise<{ items: FileRecord[]; total: number }>;
  count(principal: Principal): Promise<number>;
  /** Files whose name fits a glob. Throws `not_found` when none does. */
  search(principal: Principal, glob: string, page: Page): Promise<FileRecord[]>;
}

/** Lists of files. They show one's own; admins see everybody's when they pass everywhere else. */
export function createListing(lists: ListStore, access: Access): Listing {
  const ownerFor = (principal: Principal): Owner => (access.passes(principal) ? null : principal.userId);

  return {
    async list(principal, page) {
      const owner = ownerFor(principal);
      const [rows, total] = await Promise.all([lists.list(owner, page), lists.count(owner)]);
      return { items: rows.map(toRecord), total };
    },
    count: (principal) => lists.count(ownerFor(principal)),
    async search(principal, glob, page) {
      const rows = await lists.search(ownerFor(principal), toLikePattern(toStorableText(glob)), page);
      if (rows.length === 0) {
        throw new AppError("not_found", "No file has such a name.");
      }
      return rows.map(toRecord);
    },
  };
}
