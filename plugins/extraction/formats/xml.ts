import { SaxesParser } from "saxes";
import { requireFew, requireShallow } from "./bounds.ts";
import { isDamaged } from "./problem.ts";

/** Attributes by their name as written, with prefix. */
export type Attributes = Readonly<Record<string, string>>;

export interface XmlHandlers {
  /** Elements by their name without prefix: prefixes are a writer's choice. */
  open?(name: string, attributes: Attributes): void;
  close?(name: string): void;
  text?(text: string): void;
}

const pieceSize = 256 * 1024;

/** Reads XML piece by piece, so that a large part is never one string. Unknown entities are left as they stand. */
export function readXml(bytes: Uint8Array, handlers: XmlHandlers): void {
  const parser = new SaxesParser();
  const opened = handlers.open;
  const closed = handlers.close;
  const told = handlers.text;
  parser.on("error", (error) => {
    if (!/undefined entity/.test(error.message)) {
      throw error;
    }
  });
  let levels = 0;
  parser.on("opentag", (tag) => {
    levels += 1;
    requireShallow(levels);
    opened?.call(handlers, local(tag.name), tag.attributes as Attributes);
  });
  parser.on("closetag", (tag) => {
    levels -= 1;
    closed?.call(handlers, local(tag.name));
  });
  if (told) {
    parser.on("text", (text) => told.call(handlers, text));
    parser.on("cdata", (text) => told.call(handlers, text));
  }
  const decoder = new TextDecoder(encodingOf(bytes));
  try {
    for (let at = 0; at < bytes.length; at += pieceSize) {
      parser.write(decoder.decode(bytes.subarray(at, at + pieceSize), { stream: true }));
    }
    parser.write(decoder.decode());
    parser.close();
  } catch (error) {
    if (error instanceof Error && error.constructor === Error) {
      throw isDamaged("The document", error);
    }
    throw error;
  }
}

/** Throws DocumentProblem for XML that readers cannot keep as a tree. */
export function requireModestXml(bytes: Uint8Array): void {
  let elements = 0;
  readXml(bytes, {
    open() {
      elements += 1;
      requireFew(elements);
    },
  });
}

function local(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return "utf-16le";
  }
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
}

/** The value of an attribute whatever its prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  if (attributes[name] !== undefined) {
    return attributes[name];
  }
  const key = Object.keys(attributes).find((candidate) => local(candidate) === name);
  return key === undefined ? undefined : attributes[key];
}
