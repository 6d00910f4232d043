import { attribute, readXml } from "../xml.ts";
import type { TextBuilder } from "../text-builder.ts";
import type { ZipArchive } from "../../zip/zip.ts";
import { readRelationships, relationshipOf, requirePart } from "./package.ts";

const main = "ppt/presentation.xml";

/** Slides in the order of the show, each with its title, text, tables and notes; the place is the number of the slide. */
export function readPptx(archive: ZipArchive, builder: TextBuilder): void {
  const relationships = readRelationships(archive, main);
  const slides: string[] = [];
  readXml(requirePart(archive, main), {
    open(name, attributes) {
      const target = name === "sldId" ? relationships.get(slideRelation(attributes))?.target : undefined;
      if (target !== undefined) {
        slides.push(target);
      }
    },
  });
  for (const [index, slide] of slides.entries()) {
    if (builder.isFull) {
      return;
    }
    const bytes = archive.read(slide);
    if (bytes !== undefined) {
      builder.begin({ page: index + 1 });
      builder.add(readSlide(bytes));
      builder.add(notesOf(archive, slide));
    }
  }
}

/** A slide has a number as `id` and its relationship as `r:id`. */
function slideRelation(attributes: Readonly<Record<string, string>>): string {
  return relationshipOf(attributes) ?? "";
}

function notesOf(archive: ZipArchive, slide: string): string {
  const notes = [...readRelationships(archive, slide).values()].find(({ type }) => type === "notesSlide");
  const bytes = notes && archive.read(notes.target);
  const text = bytes ? readSlide(bytes) : "";
  return text === "" ? "" : `\n\nNotes: ${text}`;
}

const unread = new Set(["sldNum", "dt", "ftr", "hdr"]);

/** The text of a slide: one line for each paragraph, and for each row of a table. */
function readSlide(bytes: Uint8Array): string {
  const lines: string[] = [];
  let placeholder = "";
  let paragraph = "";
  let row: string[] | undefined;
  let isText = false;
  readXml(bytes, {
    open(name, attributes) {
      if (name === "sp") {
        placeholder = "";
      } else if (name === "ph") {
        placeholder = attribute(attributes, "type") ?? "";
      } else if (name === "tr") {
        row = [];
      } else if (name === "tc") {
        row?.push("");
      } else if (name === "p") {
        paragraph = "";
      } else if (name === "br" || name === "tab") {
        paragraph += " ";
      }
      isText = name === "t";
    },
    text(text) {
      paragraph += isText ? text : "";
    },
    close(name) {
      isText = false;
      if (name === "tr") {
        lines.push((row ?? []).join(" | "));
        row = undefined;
      } else if (name === "p" && paragraph.trim() !== "" && !unread.has(placeholder)) {
        if (row) {
          row[row.length - 1] = [row.at(-1), paragraph.trim()].filter(Boolean).join(" ");
        } else {
          lines.push(/title$/i.test(placeholder) ? `## ${paragraph.trim()}\n` : paragraph.trim());
        }
      }
    },
  });
  return lines.join("\n");
}
