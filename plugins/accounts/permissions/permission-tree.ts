import { z } from "zod";
import type { PartialPermissionTree } from "#kernel/access/permissions.ts";

const Word = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "must be lower case letters, digits and underscores");

/**
 * A permission tree that may leave out sections and keys. Words no plugin declares are kept, because a plugin that
 * is left out now may come back; what is not a boolean is refused.
 */
export const PartialTree = z
  .record(Word, z.record(Word, z.boolean()))
  .refine((tree) => countKeys(tree) <= 1000, "has too many keys");

function countKeys(tree: PartialPermissionTree): number {
  return Object.values(tree).reduce((sum, keys) => sum + 1 + Object.keys(keys ?? {}).length, 0);
}
