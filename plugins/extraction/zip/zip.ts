import { inflateRawSync } from "node:zlib";
import { DocumentProblem, isDamaged, isProtected } from "../formats/problem.ts";

/** A member of a ZIP archive, read lazily and within the limits. */
export interface ZipMember {
  /** As written in the archive: never a path of this machine. */
  readonly name: string;
  readonly isEncrypted: boolean;
  /** Neither a file nor a folder: a link or a device, as archives of Unix systems tell. */
  readonly isSpecial: boolean;
  readonly size: number;
  read(): Uint8Array;
}

export interface ZipArchive {
  readonly members: readonly ZipMember[];
  /** Case matters. */
  find(name: string): ZipMember | undefined;
  /** The bytes of a member; undefined when there is none. Throws for a protected one. */
  read(name: string): Uint8Array | undefined;
}

/** What may be unpacked of one uploaded file, over all archives in it. */
export interface UnpackBudget {
  /** Bytes left. */
  bytes: number;
  /** Members left. */
  members: number;
}

const localSignature = 0x04034b50;
const centralSignature = 0x02014b50;
const endSignature = 0x06054b50;
const zip64EndSignature = 0x06064b50;
/** Deflate reaches 1032:1 at most; documents stay below a tenth of it. */
const largestRatio = 300;
const ratioMattersFrom = 64 * 1024 * 1024;

/**
 * Reads a ZIP archive by its central directory. Sizes that it states are upper bounds here: a member that grows beyond
 * its own is refused, so that an archive cannot lie about what it will take. Throws DocumentProblem.
 */
export function openZip(bytes: Uint8Array, budget: UnpackBudget): ZipArchive {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, offset, size } = findDirectory(data);
  if (count > budget.members) {
    throw new DocumentProblem("The archive has more members than are read from one file.", { isFatal: true });
  }
  budget.members -= count;
  const members: ZipMember[] = [];
  let at = offset;
  const end = Math.min(offset + size, bytes.length);
  while (at + 46 <= end && data.getUint32(at, true) === centralSignature) {
    const entry = readEntry(bytes, data, at);
    at = entry.next;
    members.push(toMember(bytes, data, { entry, budget }));
  }
  if (members.length !== count && members.length !== count % 0x10000) {
    throw isDamaged("The archive");
  }
  const stated = members.reduce((sum, member) => sum + member.size, 0);
  refuseBomb(stated, bytes.length, budget.bytes);
  const byName = new Map(members.map((member) => [member.name, member]));
  return {
    members,
    find: (name) => byName.get(name),
    read: (name) => byName.get(name)?.read(),
  };
}

function refuseBomb(stated: number, packed: number, left: number): void {
  if (stated > left || (stated > ratioMattersFrom && stated / packed > largestRatio)) {
    throw new DocumentProblem("The archive unpacks to far more than is read from one file.", {
      isFatal: true,
    });
  }
}

interface Entry {
  readonly name: string;
  readonly flags: number;
  /** File type bits of Unix; 0 where the archive tells none. */
  readonly fileType: number;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  readonly next: number;
}

function readEntry(bytes: Uint8Array, data: DataView, at: number): Entry {
  const flags = data.getUint16(at + 8, true);
  const nameLength = data.getUint16(at + 28, true);
  const extraLength = data.getUint16(at + 30, true);
  const commentLength = data.getUint16(at + 32, true);
  const next = at + 46 + nameLength + extraLength + commentLength;
  if (next > bytes.length) {
    throw isDamaged("The archive");
  }
  const stated = {
    size: data.getUint32(at + 24, true),
    packed: data.getUint32(at + 20, true),
    offset: data.getUint32(at + 42, true),
  };
  const name = decodeName(bytes.subarray(at + 46, at + 46 + nameLength), flags);
  const extra = { from: at + 46 + nameLength, to: at + 46 + nameLength + extraLength };
  const fileType = (data.getUint32(at + 38, true) >>> 16) & 0o170000;
  return {
    name,
    flags,
    fileType,
    method: data.getUint16(at + 10, true),
    ...widen(data, extra, stated),
    next,
  };
}

/** Sizes above 4 GB stand in an extra field, in this order and only where the short one is full. */
function widen<S extends { size: number; packed: number; offset: number }>(
  data: DataView,
  extra: { from: number; to: number },
  stated: S,
): S {
  const wide = { ...stated };
  for (let at = extra.from; at + 4 <= extra.to; at += 4 + data.getUint16(at + 2, true)) {
    if (data.getUint16(at, true) !== 1) {
      continue;
    }
    const last = Math.min(at + 4 + data.getUint16(at + 2, true), extra.to);
    let field = at + 4;
    for (const key of ["size", "packed", "offset"] as const) {
      if (stated[key] === 0xffffffff && field + 8 <= last) {
        wide[key] = Number(data.getBigUint64(field, true));
        field += 8;
      }
    }
  }
  return wide;
}

function toMember(
  bytes: Uint8Array,
  data: DataView,
  { entry, budget }: { entry: Entry; budget: UnpackBudget },
): ZipMember {
  const isEncrypted = (entry.flags & 1) === 1;
  return {
    name: entry.name,
    isEncrypted,
    isSpecial: ![0, 0o040000, 0o100000].includes(entry.fileType),
    size: entry.size,
    read() {
      if (isEncrypted) {
        throw isProtected("The archive");
      }
      budget.bytes -= entry.size;
      if (budget.bytes < 0) {
        refuseBomb(Infinity, 1, 0);
      }
      return unpack(bytes, data, entry);
    },
  };
}

function unpack(bytes: Uint8Array, data: DataView, entry: Entry): Uint8Array {
  const { offset, packed, size, method } = entry;
  if (offset + 30 > bytes.length || data.getUint32(offset, true) !== localSignature) {
    throw isDamaged("The archive");
  }
  const from = offset + 30 + data.getUint16(offset + 26, true) + data.getUint16(offset + 28, true);
  if (from + packed > bytes.length) {
    throw isDamaged("The archive");
  }
  const body = bytes.subarray(from, from + packed);
  if (method === 0) {
    return body;
  }
  if (method !== 8) {
    throw new DocumentProblem(
      "The archive is packed in a way that cannot be read here; pack it as ordinary ZIP.",
    );
  }
  try {
    return size === 0 ? new Uint8Array() : inflateRawSync(body, { maxOutputLength: size });
  } catch (error) {
    throw isDamaged("The archive", error);
  }
}

function findDirectory(data: DataView): { count: number; offset: number; size: number } {
  // The record stands at the end, behind it only a comment of at most 64 KB.
  for (let at = data.byteLength - 22; at >= Math.max(0, data.byteLength - 22 - 0xffff); at -= 1) {
    if (data.getUint32(at, true) !== endSignature) {
      continue;
    }
    const wide = readWideEnd(data, at);
    return (
      wide ?? {
        count: data.getUint16(at + 10, true),
        size: data.getUint32(at + 12, true),
        offset: data.getUint32(at + 16, true),
      }
    );
  }
  throw isDamaged("The archive");
}

function readWideEnd(
  data: DataView,
  end: number,
): { count: number; offset: number; size: number } | undefined {
  const locator = end - 20;
  if (locator < 0 || data.getUint32(locator, true) !== 0x07064b50) {
    return undefined;
  }
  const at = Number(data.getBigUint64(locator + 8, true));
  if (at + 56 > data.byteLength || data.getUint32(at, true) !== zip64EndSignature) {
    throw isDamaged("The archive");
  }
  return {
    count: Number(data.getBigUint64(at + 32, true)),
    size: Number(data.getBigUint64(at + 40, true)),
    offset: Number(data.getBigUint64(at + 48, true)),
  };
}

function decodeName(name: Uint8Array, flags: number): string {
  const isUtf8 = (flags & 0x800) !== 0;
  try {
    // Many writers forget the flag: what is sound UTF-8 is taken as that.
    return new TextDecoder("utf-8", { fatal: !isUtf8 }).decode(name);
  } catch {
    return new TextDecoder("ibm866").decode(name);
  }
}
