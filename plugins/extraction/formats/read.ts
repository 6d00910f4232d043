import type { ExtractedText } from "../service.ts";
import { type DocumentKind, describeForeign, detect, promisesDocument } from "./detect.ts";
import { DocumentProblem } from "./problem.ts";
import type { DocumentReader, Reading, ReadingLimits, Source } from "./reading.ts";
import { TextBuilder } from "./text-builder.ts";

/** Loaded when the first document of their kind comes: together they take a hundred megabytes. */
const readers: Record<Exclude<DocumentKind, "foreign">, () => Promise<DocumentReader>> = {
  pdf: async () => (await import("./pdf.ts")).readPdf,
  zip: async () => (await import("./zip-documents.ts")).readZip,
  compound: async () => (await import("./compound.ts")).readCompound,
  rtf: async () => (await import("./rtf.ts")).readRtf,
  html: async () => (await import("./html.ts")).readHtml,
  eml: async () => (await import("./mail.ts")).readEml,
  csv: async () => (await import("./plain.ts")).readCsv,
  text: async () => (await import("./plain.ts")).readPlain,
};

/** An archive in an archive is read, one within that is not. */
const deepest = 2;

/** Reads the text of a document; undefined for bytes that are none. Throws DocumentProblem. */
export async function readDocument(
  source: Source,
  limits: ReadingLimits,
): Promise<ExtractedText | undefined> {
  if (source.bytes.length === 0) {
    throw new DocumentProblem("The file is empty.");
  }
  const skipped: Reading["skipped"] = [];
  const builder = new TextBuilder(limits.characters);
  const shared = {
    builder,
    limits,
    skipped,
    budget: { bytes: limits.unpackedBytes, members: limits.members },
  };
  const isRead = await readAt(source, shared, 0);
  if (!isRead) {
    return undefined;
  }
  const found = builder.finish();
  if (found.text === "") {
    throw new DocumentProblem(
      skipped[0] ? `No text found: ${skipped[0].part}: ${skipped[0].reason}` : "No text found in this file.",
    );
  }
  return { ...found, ...(skipped.length > 0 ? { skipped: skipped.slice(0, 100) } : {}) };
}

async function readAt(source: Source, shared: Omit<Reading, "nested">, depth: number): Promise<boolean> {
  const kind = detect(source.bytes, source);
  if (kind === "foreign") {
    return refuseForeign(source);
  }
  if (kind === "zip" && depth >= deepest) {
    throw new DocumentProblem("Archives are packed into each other more often than is read.");
  }
  const reader = await readers[kind]();
  await reader(source, {
    ...shared,
    async nested(inner) {
      if (inner.bytes.length === 0) {
        throw new DocumentProblem("The file is empty.");
      }
      const isRead = await readAt(inner, shared, depth + 1);
      if (!isRead) {
        throw new DocumentProblem("The file holds no text.");
      }
    },
  });
  return true;
}

/** A file whose name promises a document is refused with what it is; others are left as they are. */
function refuseForeign(source: Source): false {
  if (!promisesDocument(source)) {
    return false;
  }
  const words = describeForeign(source.bytes);
  const ending = source.name.slice(source.name.lastIndexOf("."));
  throw new DocumentProblem(
    words === undefined
      ? `The file is named ${ending} but holds something else.`
      : `The file is named ${ending} but holds ${words}.`,
  );
}
