import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import { AppError } from "#kernel/errors.ts";
import type { Reply } from "#kernel/http/route.ts";
import { answerWithTexts } from "./answers.ts";
import type { ListedFile, ListStore, Owner, Page } from "./list-store.ts";
import { toLikePattern } from "./names.ts";
import { toRecord, toStorableText } from "./record.ts";
import type { CountPassages } from "./passages.ts";
import type { FileRecord } from "./service.ts";

export interface Listing {
  /** A page of the files, newest first. */
  list(principal: Principal, page: WantedList): Promise<{ items: FileRecord[]; total: number } | Reply>;
  count(principal: Principal): Promise<number>;
  /** Files whose name fits a glob. Throws `not_found` when none does. */
  search(principal: Principal, glob: string, page: WantedPage): Promise<FileRecord[] | Reply>;
}

export interface WantedPage extends Page {
  /** Whether to show the texts. */
  readonly content: boolean;
}

export interface WantedList extends WantedPage {
  /** Admins, too, get their own alone. */
  readonly mine?: boolean;
  /** A glob that the names fit. */
  readonly filename?: string;
}

/** Lists of files. They show one's own; admins see everybody's when they pass everywhere else. */
export function createListing(lists: ListStore, access: Access, passages: CountPassages): Listing {
  const ownerFor = (principal: Principal): Owner => (access.passes(principal) ? null : principal.userId);

  async function answer<T>(
    listed: readonly ListedFile[],
    { content }: WantedPage,
    toShape: (records: FileRecord[]) => T,
  ): Promise<T | Reply> {
    const rows = await passages(listed);
    return content ? await answerWithTexts(lists, rows, toShape) : toShape(rows.map(toRecord));
  }

  return {
    async list(principal, page) {
      const owner = page.mine ? principal.userId : ownerFor(principal);
      const pattern = page.filename === undefined ? undefined : toPattern(page.filename);
      const [rows, total] = await Promise.all([
        lists.list(owner, page, pattern),
        lists.count(owner, pattern),
      ]);
      return await answer(rows, page, (items) => ({ items, total }));
    },
    count: (principal) => lists.count(ownerFor(principal)),
    async search(principal, glob, page) {
      const rows = await lists.list(ownerFor(principal), page, toPattern(glob));
      if (rows.length === 0) {
        throw new AppError("not_found", "No file has such a name.");
      }
      return await answer(rows, page, (records) => records);
    },
  };
}

const toPattern = (glob: string): string => toLikePattern(toStorableText(glob));
