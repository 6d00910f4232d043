import { AppError } from "#kernel/errors.ts";

/** Limits of the files of one skill. */
export const fileLimits = { files: 200, fileBytes: 1_000_000, totalBytes: 10_000_000 };

const longest = 200;
const deepest = 8;
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u001f\u007f\\:*?"<>|]/;

/** The text of a skill in a folder or an archive. */
export const mainFile = "SKILL.md";

/** The path of a file in a skill. Throws `invalid` for one that leaves it, or that no system takes (promise S31). */
export function requirePath(path: string): string {
  const parts = path.split("/");
  const isPlain = (part: string) => part !== "" && part !== "." && part !== ".." && part.trim() === part;
  if (path.length > longest || parts.length > deepest || forbidden.test(path) || !parts.every(isPlain)) {
    throw new AppError("invalid", `path: "${path.slice(0, longest)}" is no path inside a skill.`);
  }
  if (path.toLowerCase() === mainFile.toLowerCase()) {
    throw new AppError("invalid", `path: ${mainFile} is the text of the skill itself.`);
  }
  return path;
}

/** Throws `invalid` and `too_large` for files that do not go into one skill. */
export function requireFiles(
  files: readonly { readonly path: string; readonly content: Uint8Array }[],
): void {
  if (files.length > fileLimits.files) {
    throw new AppError("too_large", `A skill takes ${fileLimits.files} files at most.`);
  }
  const taken = new Set<string>();
  let total = 0;
  for (const { path, content } of files) {
    requirePath(path);
    if (taken.has(path.toLowerCase())) {
      throw new AppError("invalid", `path: "${path}" is there twice.`);
    }
    taken.add(path.toLowerCase());
    total += content.length;
    if (content.length > fileLimits.fileBytes || total > fileLimits.totalBytes) {
      throw new AppError(
        "too_large",
        `"${path}" is too large: a file takes 1 MB, all files of a skill 10 MB.`,
      );
    }
  }
}
