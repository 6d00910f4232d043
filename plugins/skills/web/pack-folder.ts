import { zipSync } from "fflate";

/** The files of a picked folder as a ZIP archive with their paths in it. */
export async function packFolder(files: readonly File[]): Promise<File> {
  const entries = files.map(async (file) => {
    const path = file.webkitRelativePath || file.name;
    return [path, new Uint8Array(await file.arrayBuffer())] as const;
  });
  const bytes = zipSync(Object.fromEntries(await Promise.all(entries)), { level: 6 });
  return new File([bytes], "skill.zip", { type: "application/zip" });
}
