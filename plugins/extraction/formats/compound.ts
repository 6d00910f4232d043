import { DocumentProblem, isProtected } from "./problem.ts";
import type { DocumentReader } from "./reading.ts";

const utf16 = (text: string) => Buffer.from(text, "utf16le");

/**
 * Compound files (OLE): messages of Outlook, office documents that a password protects, and office documents from
 * before 2007, which only engines read.
 */
export const readCompound: DocumentReader = async (source, reading) => {
  const bytes = Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.byteLength);
  if (bytes.includes(utf16("EncryptedPackage"))) {
    throw isProtected();
  }
  if (bytes.includes(utf16("__properties_version1.0"))) {
    const { readMsg } = await import("./mail.ts");
    return readMsg(source, reading);
  }
  const old = [
    ["WordDocument", "Word (.doc)", ".docx"],
    ["Workbook", "Excel (.xls)", ".xlsx"],
    ["PowerPoint Document", "PowerPoint (.ppt)", ".pptx"],
  ] as const;
  const [, kind, ending] = old.find(([stream]) => bytes.includes(utf16(stream))) ?? [];
  if (kind !== undefined) {
    throw new DocumentProblem(
      `The old format of ${kind} is not read here; save it as ${ending}, or have an engine set up.`,
    );
  }
  throw new DocumentProblem("The file is of a kind that is not read here.");
};
