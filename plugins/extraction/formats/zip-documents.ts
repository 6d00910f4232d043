import { openZip, type ZipArchive } from "../zip/zip.ts";
import { readEpub } from "./epub.ts";
import { readMembers } from "./members.ts";
import { readDocx } from "./office/docx.ts";
import { readOdf } from "./office/odf.ts";
import { readPptx } from "./office/pptx.ts";
import { readXlsx } from "./office/xlsx.ts";
import { DocumentProblem, isProtected } from "./problem.ts";
import type { DocumentReader, Reading } from "./reading.ts";

/** Everything that is packed as ZIP: office documents, books and plain archives, told apart by what they hold. */
export const readZip: DocumentReader = async ({ bytes }, reading) => {
  const archive = openZip(bytes, reading.budget);
  const { builder } = reading;
  if (archive.find("[Content_Types].xml")) {
    return readOoxml(archive, reading);
  }
  const type = new TextDecoder().decode(archive.read("mimetype") ?? new Uint8Array());
  if (type.startsWith("application/epub")) {
    return readEpub(archive, builder);
  }
  if (type.startsWith("application/vnd.oasis.opendocument.")) {
    return readOdf(archive, builder, kindOf(type));
  }
  return readArchive(archive, reading);
};

function readOoxml(archive: ZipArchive, reading: Reading): Promise<void> | void {
  const { builder } = reading;
  if (archive.find("word/document.xml")) {
    return readDocx(archive, builder);
  }
  if (archive.find("xl/workbook.xml")) {
    return readXlsx(archive, builder);
  }
  if (archive.find("ppt/presentation.xml")) {
    return readPptx(archive, builder);
  }
  return readArchive(archive, reading);
}

function kindOf(type: string): "text" | "sheets" | "slides" {
  if (type.includes("spreadsheet")) {
    return "sheets";
  }
  return type.includes("presentation") ? "slides" : "text";
}

/** Files that systems add on their own. */
const unread = /(^|\/)(__MACOSX|\.git|\.DS_Store|Thumbs\.db|desktop\.ini)(\/|$)/;

async function readArchive(archive: ZipArchive, reading: Reading): Promise<void> {
  const members = archive.members.filter(({ name }) => !name.endsWith("/") && !unread.test(name));
  if (members.some(({ isEncrypted }) => isEncrypted)) {
    throw isProtected("The archive");
  }
  if (members.length === 0) {
    throw new DocumentProblem("The archive is empty.");
  }
  await readMembers(members, reading);
}
