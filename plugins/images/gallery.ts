import type { Principal } from "#kernel/access/principal.ts";
import type { ImageDatabase } from "./tables.ts";

/** The request that led to a picture. */
export interface MadeFacts {
  readonly kind: "generate" | "edit";
  readonly prompt: string;
  readonly engine: string;
  readonly model: string;
  readonly size: string;
}

export interface GalleryItem extends MadeFacts {
  readonly id: string;
  readonly url: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** The cursor of the page behind this one. */
  readonly sequence: number;
}

export interface Gallery {
  add(principal: Principal, fileId: string, facts: MadeFacts): Promise<void>;
  /** The person's own pictures, newest first, those before a cursor. */
  list(
    principal: Principal,
    page: { readonly before: number | undefined; readonly limit: number },
  ): Promise<GalleryItem[]>;
}

/** Remembers what led to pictures; removing the file removes the entry. */
export function createGallery(db: ImageDatabase): Gallery {
  return {
    async add({ userId }, fileId, facts) {
      const row = { ...facts, file_id: fileId, user_id: userId, created_at: Math.floor(Date.now() / 1000) };
      await db
        .insertInto("made_picture")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async list({ userId }, { before, limit }) {
      const own = db.selectFrom("made_picture").selectAll().where("user_id", "=", userId);
      const page = before === undefined ? own : own.where("sequence", "<", before);
      const rows = await page.orderBy("sequence", "desc").limit(limit).execute();
      return rows.map(({ file_id: id, user_id: _user, created_at: created, sequence, ...facts }) => ({
        ...facts,
        id,
        url: `/api/v1/files/${id}/content`,
        created_at: Number(created),
        sequence: Number(sequence),
      }));
    },
  };
}
