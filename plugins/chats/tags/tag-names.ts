/** Contract §0: the name in lower case with underscores. */
export function toTagId(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s/g, "_");
}

/** The word for chats without a tag; no tag may be called so. */
export const untagged = "none";
