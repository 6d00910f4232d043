/** A file of a drop or a picker, with the folder that it lay in. */
export interface Dropped {
  readonly file: File;
  /** Folders from the outermost, without the file's name; empty for single files. */
  readonly path: readonly string[];
}

/** Folders of systems and hidden files are no knowledge. */
const isHidden = (name: string) => name.startsWith(".") || name === "Thumbs.db" || name === "__MACOSX";

/** The files of a drop, those in folders included. Entries have to be asked for before anything is awaited. */
export async function readDrop(transfer: DataTransfer): Promise<Dropped[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found = await Promise.all(entries.map((entry) => readEntry(entry, [])));
  return found.flat();
}

async function readEntry(entry: FileSystemEntry, path: readonly string[]): Promise<Dropped[]> {
  if (isHidden(entry.name)) {
    return [];
  }
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, path }];
  }
  const inside = await readAll((entry as FileSystemDirectoryEntry).createReader());
  const found: Dropped[] = [];
  for (const one of inside) {
    found.push(...(await readEntry(one, [...path, entry.name])));
  }
  return found;
}

/** A reader gives at most a hundred entries at once, and none at the end. */
async function readAll(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) {
      return all;
    }
    all.push(...some);
  }
}

/** The files of a picker, of a folder or not. */
export function fromPicker(files: FileList): Dropped[] {
  return [...files].flatMap((file) => {
    const parts = file.webkitRelativePath.split("/").slice(0, -1);
    return [file.name, ...parts].some(isHidden) ? [] : [{ file, path: parts }];
  });
}
