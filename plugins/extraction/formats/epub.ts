import { posix } from "node:path";
import type { ZipArchive } from "../zip/zip.ts";
import { decodeHtml, htmlToMarkdown } from "./html.ts";
import { isDamaged, isProtected } from "./problem.ts";
import type { TextBuilder } from "./text-builder.ts";
import { readXml } from "./xml.ts";

/** Chapters of a book in the order of its spine; the place is the chapter's own heading, else the name of its file. */
export function readEpub(archive: ZipArchive, builder: TextBuilder): void {
  const chapters = readSpine(archive);
  const sealed = readSealed(archive);
  for (const chapter of chapters) {
    const bytes = archive.read(chapter);
    if (bytes === undefined || builder.isFull) {
      continue;
    }
    if (sealed.has(chapter)) {
      throw isProtected("The book");
    }
    const text = htmlToMarkdown(decodeHtml(bytes));
    const heading = /^#{1,6} (.{1,200})$/m.exec(text)?.[1]?.trim();
    builder.begin({ part: heading ?? posix.basename(chapter) });
    builder.add(text);
  }
}

/** Names of the chapters' members. */
function readSpine(archive: ZipArchive): string[] {
  let packageName = "";
  const container = archive.read("META-INF/container.xml");
  if (container) {
    readXml(container, {
      open(name, attributes) {
        packageName ||= name === "rootfile" ? (attributes["full-path"] ?? "") : "";
      },
    });
  }
  const bytes = archive.read(packageName);
  if (bytes === undefined) {
    throw isDamaged("The book");
  }
  const items = new Map<string, string>();
  const spine: string[] = [];
  readXml(bytes, {
    open(name, { id, href, idref }) {
      if (name === "item" && id && href) {
        items.set(id, posix.join(posix.dirname(packageName), decodePath(href)));
      } else if (name === "itemref" && idref) {
        spine.push(idref);
      }
    },
  });
  return spine.map((id) => items.get(id)).filter((name) => name !== undefined);
}

/** Members whose bytes are sealed by a shop; fonts that are only veiled are none of the chapters. */
function readSealed(archive: ZipArchive): Set<string> {
  const sealed = new Set<string>();
  const bytes = archive.read("META-INF/encryption.xml");
  if (bytes) {
    readXml(bytes, {
      open(name, { URI }) {
        if (name === "CipherReference" && URI) {
          sealed.add(decodePath(URI));
        }
      },
    });
  }
  return sealed;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
