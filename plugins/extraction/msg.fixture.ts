import { burn, type Entry } from "@kenjiuno/msgreader/lib/Burner.js";

/** Kinds of entries of a compound file (MS-CFB 2.6.1). */
const [storage, document, root] = [1, 2, 5] as const;

interface Folder {
  readonly [name: string]: Uint8Array | Folder;
}

/** A message as Outlook stores it (MS-OXMSG), with a recipient and an attachment. */
export function toMsg(): Uint8Array {
  return burn(
    toEntries({
      "__properties_version1.0": new Uint8Array(32),
      "__substg1.0_0037001F": text("Grüße"),
      "__substg1.0_0C1A001F": text("Ada"),
      "__substg1.0_5D01001F": text("ada@example.test"),
      "__substg1.0_1000001F": text("See the list."),
      "__recip_version1.0_#00000000": {
        "__properties_version1.0": Buffer.concat([Buffer.alloc(8), property(0x0c15_0003, 1)]),
        "__substg1.0_3001001F": text("Bo"),
        "__substg1.0_39FE001F": text("bo@example.test"),
      },
      "__attach_version1.0_#00000000": {
        "__properties_version1.0": Buffer.concat([Buffer.alloc(8), property(0x3705_0003, 1)]),
        "__substg1.0_3707001F": text("list.csv"),
        "__substg1.0_37010102": Buffer.from("a,b\n1,2\n"),
      },
    }),
  );
}

const text = (value: string) => Buffer.from(value, "utf16le");

/** A property of a fixed length: its tag, flags, and a number. */
function property(tag: number, value: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(tag, 0);
  bytes.writeUInt32LE(6, 4);
  bytes.writeUInt32LE(value, 8);
  return bytes;
}

function toEntries(content: Folder): Entry[] {
  const entries: Entry[] = [];
  const add = (name: string, inside: Folder, type: number): number => {
    const entry: Entry = { name, type, length: 0, children: [] };
    const at = entries.push(entry) - 1;
    entry.children = Object.entries(inside).map(([child, value]) =>
      value instanceof Uint8Array
        ? entries.push({
            name: child,
            type: document,
            length: value.length,
            binaryProvider: () => Uint8Array.from(value),
          }) - 1
        : add(child, value, storage),
    );
    return at;
  };
  add("Root Entry", content, root);
  return entries;
}
