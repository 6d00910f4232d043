import { isObject, toList } from "#config/json-values.ts";

/** An item of `files` of a request, or of the knowledge of a folder or model (contract §6.3). */
export type Item = Readonly<Record<string, unknown>> & { readonly type: string };

/** A text that comes along with its item. */
export interface InlineText {
  readonly name: string;
  readonly url: string | undefined;
  readonly content: string;
}

/** An item by what has to be done for it. */
export type Wanted =
  | { readonly kind: "file"; readonly id: string; readonly name: string; readonly isWhole: boolean }
  | {
      readonly kind: "collections";
      readonly names: readonly string[];
      readonly name: string;
      readonly isWhole: boolean;
    }
  | {
      readonly kind: "folder" | "chat";
      readonly id: string;
      readonly name: string;
      readonly isWhole: boolean;
    }
  | { readonly kind: "page"; readonly url: string; readonly name: string }
  | { readonly kind: "inline"; readonly name: string; readonly texts: readonly InlineText[] }
  /** It names nothing that could be read. */
  | { readonly kind: "empty"; readonly name: string };

/** Values of `type` that this plugin reads. Clients of older versions call documents `doc`. */
export const itemTypes = [
  "file",
  "doc",
  "audio",
  "video",
  "collection",
  "folder",
  "chat",
  "url",
  "text",
  "web_search",
];

/** Pictures go to the model as pictures, and items of other types are read by the plugins that know them. */
export function isKnown({ type }: { readonly type: string }): boolean {
  return itemTypes.includes(type);
}

/** Reads an item of any of the forms that clients send. */
export function toWanted(item: Item): Wanted {
  const { type } = item;
  const id = toText(item["id"]);
  const name = toText(item["name"]) ?? toText(item["title"]) ?? toText(item["url"]) ?? id ?? type;
  const isWhole = item["context"] === "full";
  const texts = toInline(item, name);
  if (texts.length > 0) {
    return { kind: "inline", name, texts };
  }
  const names = toNames(item);
  const isFile = type !== "collection" && type !== "folder" && type !== "chat" && type !== "url";
  if (id !== undefined && isFile && type !== "text" && type !== "web_search") {
    return { kind: "file", id, name, isWhole };
  }
  if (names.length > 0) {
    return { kind: "collections", names, name, isWhole };
  }
  if (id !== undefined && type === "collection") {
    return { kind: "collections", names: [id], name, isWhole };
  }
  if (id !== undefined && (type === "folder" || type === "chat")) {
    return { kind: type, id, name, isWhole };
  }
  const url = toText(item["url"]) ?? id;
  return type === "url" && url !== undefined ? { kind: "page", url, name } : { kind: "empty", name };
}

/** `docs` of an item (`{content, metadata}`), or the words of a text. */
function toInline(item: Item, name: string): InlineText[] {
  const docs = toList(item["docs"]).flatMap((doc) => {
    if (!isObject(doc) || typeof doc["content"] !== "string" || doc["content"].trim() === "") {
      return [];
    }
    const about = isObject(doc["metadata"]) ? doc["metadata"] : {};
    const source = toText(about["source"]);
    const url = source !== undefined && /^https?:\/\//i.test(source) ? source : undefined;
    const title = toText(about["title"]) ?? toText(about["name"]) ?? source ?? name;
    return [{ name: title, url, content: doc["content"] }];
  });
  const { content } = item;
  return docs.length === 0 && item.type === "text" && typeof content === "string" && content.trim() !== ""
    ? [{ name, url: undefined, content }]
    : docs;
}

function toNames(item: Item): string[] {
  const listed = toList(item["collection_names"]).filter((name) => typeof name === "string" && name !== "");
  const single = toText(item["collection_name"]);
  return listed.length > 0 ? (listed as string[]) : single === undefined ? [] : [single];
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
