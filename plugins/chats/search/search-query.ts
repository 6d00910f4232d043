import type { Filter } from "./lists.ts";
import { toTagId, untagged } from "../tags/tag-names.ts";

/** What somebody typed into the search field, taken apart. */
export interface SearchQuery {
  /** Words to look for in titles and messages. */
  readonly words: string;
  readonly filter: Omit<Filter, "folder">;
  /** Id or name of a folder. */
  readonly folder?: string;
}

const operator = /(?<=^|\s)(tag|folder|pinned|archived|shared):(?:"([^"]*)"|(\S*))/gi;

/**
 * Reads `tag:x folder:x pinned:true archived:true shared:true` and words (contract §7.1). Values with spaces stand in
 * quotes; `tag:none` means no tag. Archived chats are found only by asking for them.
 */
export function parseSearch(text: string): SearchQuery {
  const tags: string[] = [];
  const filter: { -readonly [K in keyof Filter]: Filter[K] } = { archived: false };
  let folder: string | undefined;
  const words = text.replaceAll(operator, (whole, name: string, quoted?: string, plain?: string) => {
    const value = (quoted ?? plain ?? "").trim();
    const key = name.toLowerCase();
    if (value === "") {
      return " ";
    }
    if (key === "tag") {
      const tag = toTagId(value);
      if (tag === untagged) {
        filter.untagged = true;
      } else {
        tags.push(tag);
      }
      return " ";
    }
    if (key === "folder") {
      folder = value;
      return " ";
    }
    const isOn = toSwitch(value);
    if (isOn === undefined) {
      return whole;
    }
    filter[key as "pinned" | "archived" | "shared"] = isOn;
    return " ";
  });
  return {
    words: words.replaceAll(/\s+/g, " ").trim(),
    filter: tags.length > 0 ? { ...filter, tags } : filter,
    ...(folder === undefined ? {} : { folder }),
  };
}

function toSwitch(value: string): boolean | undefined {
  return ({ true: true, false: false } as Record<string, boolean>)[value.toLowerCase()];
}
