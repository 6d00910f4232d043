import { extname } from "node:path";
import { isText } from "#plugins/files/service.ts";
import { isBinary } from "./decode.ts";

/** Kinds of bytes, told by their first ones where these say it, else by name and media type. */
export type DocumentKind = "pdf" | "zip" | "compound" | "rtf" | "html" | "csv" | "eml" | "text" | "foreign";

const signatures: readonly (readonly [kind: DocumentKind, signature: string])[] = [
  ["zip", "PK\u0003\u0004"],
  ["zip", "PK\u0005\u0006"],
  ["compound", "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1"],
  ["rtf", "{\\rtf"],
];

/** Bytes that are no documents, with the words for them: a signature, and where it stands. */
const foreign: readonly (readonly [words: string, signature: string, at?: number])[] = [
  ["a PNG picture", "\u0089PNG\r\n"],
  ["a JPEG picture", "\u00ff\u00d8\u00ff"],
  ["a GIF picture", "GIF8"],
  ["a WebP picture", "WEBP", 8],
  ["a TIFF picture", "II*\u0000"],
  ["a TIFF picture", "MM\u0000*"],
  ["sound", "ID3"],
  ["sound", "OggS"],
  ["sound", "fLaC"],
  ["sound", "WAVEfmt ", 8],
  ["a video", "ftyp", 4],
  ["a video", "\u001aE\u00df\u00a3"],
  ["a video", "AVI LIST", 8],
  ["a program", "\u007fELF"],
  ["a program", "MZ\u0090\u0000"],
  ["a gzip archive, which is not read; pack it as ZIP", "\u001f\u008b"],
  ["a 7-Zip archive, which is not read; pack it as ZIP", "7z\u00bc\u00af"],
  ["a RAR archive, which is not read; pack it as ZIP", "Rar!\u001a"],
];

export function detect(bytes: Uint8Array, { name, type }: { name: string; type: string }): DocumentKind {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  const known = signatures.find(([, signature]) => head.startsWith(signature));
  if (known) {
    return known[0];
  }
  // Readers of PDF accept rubbish before its first line, and some writers leave it there.
  if (head.includes("%PDF-")) {
    return "pdf";
  }
  if (describeForeign(bytes) !== undefined) {
    return "foreign";
  }
  const kind = detectText(name, type);
  // Clients call bytes of kinds they do not know a text; only a name that promises one is held to it.
  return isBinary(bytes) && !isText("", name) ? "foreign" : kind;
}

function detectText(name: string, type: string): DocumentKind {
  const ending = extname(name).slice(1).toLowerCase();
  if (["html", "htm", "xhtml"].includes(ending) || type === "text/html" || type === "application/xhtml+xml") {
    return "html";
  }
  if (["csv", "tsv"].includes(ending) || type === "text/csv" || type === "text/tab-separated-values") {
    return "csv";
  }
  if (ending === "eml" || type === "message/rfc822") {
    return "eml";
  }
  return isText(type, name) ? "text" : "foreign";
}

/** Words for bytes that are no document: "a PNG picture"; undefined where the first bytes say nothing. */
export function describeForeign(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 64)).toString("latin1");
  return foreign.find(([, signature, at = 0]) => head.startsWith(signature, at))?.[0];
}

const documentEndings = new Set(
  "pdf docx docm dotx xlsx xlsm pptx pptm odt ods odp ott epub rtf zip msg doc xls ppt".split(" "),
);

/** True for names that promise a document whose bytes say what they are. */
export function promisesDocument({ name, type }: { name: string; type: string }): boolean {
  const ending = extname(name).slice(1).toLowerCase();
  return documentEndings.has(ending) || (ending === "" && type === "application/pdf");
}
