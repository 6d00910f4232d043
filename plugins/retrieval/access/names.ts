import { AppError } from "#kernel/errors.ts";

/** Names match whatever the case, and with hyphen and underscore alike (ENABLE_RETRIEVAL_UNSCOPED_COLLECTIONS). */
export function toCollectionName(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

/** A name as the index has it. Throws `invalid` for what cannot be one (S25). */
export function requireCollectionName(name: string): string {
  const plain = toCollectionName(name);
  if (plain.length > 200 || !/^[a-z0-9][a-z0-9.-]*$/.test(plain)) {
    throw new AppError("invalid", "A collection's name is made of letters, digits, hyphens and dots.");
  }
  return plain;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Names that others give: ids, and files. Nobody may take one for texts of their own. */
export function isReserved(name: string): boolean {
  return uuid.test(name) || name.startsWith("file-");
}
