import { strToU8, Zip, ZipDeflate } from "fflate";
import type { Files } from "#plugins/files/service.ts";
import { findPath } from "../directories/directory-store.ts";
import type { LinkRow } from "../files/link-store.ts";
import type { KnowledgeDatabase } from "../tables.ts";

/** A part of a path inside an archive: never empty, never upwards, never absolute (promise S31). */
function toPart(name: string): string {
  // oxlint-disable-next-line no-control-regex
  const part = name.replace(/[\u0000-\u001f\u007f/\\:*?"<>|]/g, "_").trim();
  return part === "" || part === "." || part === ".." ? "_" : part;
}

/** The texts of files as a zip of `.txt`, one text in memory at a time; two files of one path get a number. */
export async function* toZip(
  { db, files }: { db: KnowledgeDatabase; files: Files },
  knowledgeId: string,
  rows: readonly LinkRow[],
): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) {
      throw error;
    }
    ready.push(chunk);
  });
  const taken = new Set<string>();
  const folders = new Map<string, string>();
  for (const row of rows) {
    const text = await files.text(row.file_id);
    if (text === undefined) {
      continue;
    }
    const folder = await folderOf(db, { knowledgeId, id: row.directory_id, folders });
    const entry = new ZipDeflate(toFree(folder + toPart(row.name), taken), { level: 6 });
    zip.add(entry);
    entry.push(strToU8(text), true);
    yield* ready;
    ready = [];
  }
  zip.end();
  yield* ready;
}

async function folderOf(
  db: KnowledgeDatabase,
  { knowledgeId, id, folders }: { knowledgeId: string; id: string | null; folders: Map<string, string> },
): Promise<string> {
  if (id === null) {
    return "";
  }
  const known = folders.get(id);
  if (known !== undefined) {
    return known;
  }
  const path = (await findPath(db, knowledgeId, id)).map(({ name }) => `${toPart(name)}/`).join("");
  folders.set(id, path);
  return path;
}

function toFree(path: string, taken: Set<string>): string {
  let name = `${path}.txt`;
  for (let number = 2; taken.has(name.toLowerCase()); number += 1) {
    name = `${path} (${number}).txt`;
  }
  taken.add(name.toLowerCase());
  return name;
}
