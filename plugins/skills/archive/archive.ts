import { strToU8, zipSync } from "fflate";
import { AppError } from "#kernel/errors.ts";
import { DocumentProblem, openZip, type ZipMember } from "#plugins/extraction/service.ts";
import { fileLimits, mainFile, requireFiles } from "../library/paths.ts";
import type { SkillFile } from "../library/skill-store.ts";
import { readFrontMatter, type SkillText, toFrontMatter } from "./front-matter.ts";

/** Bytes of an archive that is uploaded. */
export const maxArchive = 12_000_000;

/** What systems add on their own. */
const ignored = /(^|\/)(__MACOSX|\.git|\.DS_Store|Thumbs\.db|desktop\.ini)(\/|$)/;

export interface ReadSkill {
  readonly text: SkillText;
  /** The folder that held it; empty at the root of the archive. */
  readonly folder: string;
  readonly files: readonly SkillFile[];
}

/**
 * Reads a skill out of a ZIP archive: a SKILL.md at its root or in its one folder, and the files beside it. An archive
 * with a link, a path that leaves it, a second place or too much in it is refused as a whole (promise S31).
 */
export function readArchive(bytes: Uint8Array): ReadSkill {
  try {
    const limits = { bytes: fileLimits.totalBytes + fileLimits.fileBytes, members: 2 * fileLimits.files };
    const members = openZip(bytes, limits).members;
    // Judged before anything is left out: an entry of a system's folder may be a way out as well.
    members.forEach(requirePlain);
    return toSkill(members.filter(({ name }) => !name.endsWith("/") && !ignored.test(name)));
  } catch (error) {
    if (error instanceof DocumentProblem) {
      throw new AppError("invalid", error.message, { cause: error });
    }
    throw error;
  }
}

/** A skill as a ZIP archive with one folder. */
export function writeArchive(
  skill: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly content: string;
  },
  files: readonly SkillFile[],
): Uint8Array {
  const entries = files.map(({ path, content }) => [`${skill.id}/${path}`, new Uint8Array(content)]);
  return zipSync(
    Object.fromEntries([[`${skill.id}/${mainFile}`, strToU8(toFrontMatter(skill))], ...entries]) as Record<
      string,
      Uint8Array
    >,
    { level: 6 },
  );
}

function requirePlain({ name, isSpecial, isEncrypted }: ZipMember): void {
  const parts = name.replace(/\/$/, "").split("/");
  const leaves = parts.some((part) => part === ".." || part === "." || part === "");
  if (leaves || name.includes("\\") || /^[a-z]:/i.test(name)) {
    throw new AppError("invalid", `The archive has a path that leaves it: "${name.slice(0, 200)}".`);
  }
  if (isSpecial) {
    throw new AppError("invalid", `The archive has a link or a device: "${name.slice(0, 200)}".`);
  }
  if (isEncrypted) {
    throw new AppError("invalid", "The archive is protected by a password.");
  }
}

function toSkill(members: readonly ZipMember[]): ReadSkill {
  const isMain = ({ name }: ZipMember) => name.split("/").at(-1)?.toLowerCase() === mainFile.toLowerCase();
  const [main] = members
    .filter(isMain)
    .toSorted((a, b) => a.name.split("/").length - b.name.split("/").length);
  if (main === undefined) {
    throw new AppError("invalid", `The archive has no ${mainFile}.`);
  }
  const prefix = main.name.slice(0, -mainFile.length);
  const stray = members.find(({ name }) => !name.startsWith(prefix));
  if (stray !== undefined) {
    throw new AppError("invalid", `"${stray.name.slice(0, 200)}" does not stand beside ${mainFile}.`);
  }
  const files = members
    .filter((member) => member !== main)
    .map((member) => ({ path: member.name.slice(prefix.length), size: member.size, member }));
  // Sizes are judged as they are stated, before anything is unpacked; unpacking holds members to them.
  requireFiles(files.map(({ path, size }) => ({ path, content: { length: size } as Uint8Array })));
  const read = ({ path, member }: (typeof files)[number]) => ({ path, content: member.read() });
  const text = readFrontMatter(new TextDecoder().decode(main.read()));
  return { text, folder: prefix.split("/").at(-2) ?? "", files: files.map(read) };
}
