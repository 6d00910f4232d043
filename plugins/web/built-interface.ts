import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** What `npm run build` made of the interface. */
export interface BuiltInterface {
  /** The document of every page; undefined while nothing is built. */
  document(): Promise<BuiltFile | undefined>;
  /** A file of the build, in the encoding that the client takes and the build holds; undefined when there is none. */
  file(path: string, acceptEncoding?: string): Promise<BuiltFile | undefined>;
}

export interface BuiltFile {
  readonly bytes: Buffer;
  readonly etag: string;
  /** The encoding of `bytes`; undefined when they are plain. */
  readonly encoding?: "br" | "gzip";
}

const builtFolder = fileURLToPath(new URL("dist", import.meta.url));
/** Two levels of plain names: no hidden files and no way out of the folder. */
const safePath = /^(?:[a-z]+\/)?\w[\w.-]*$/;

/** Reads the build in `folder`. One that is made anew while the server runs is answered from the next request on. */
export function createBuiltInterface(folder: string = builtFolder): BuiltInterface {
  let kept: { readonly changedAt: number; readonly file: BuiltFile } | undefined;
  return {
    async document() {
      const path = `${folder}/index.html`;
      const changedAt = (await stat(path).catch(() => undefined))?.mtimeMs;
      if (changedAt === undefined) {
        return undefined;
      }
      if (kept?.changedAt !== changedAt) {
        kept = { changedAt, file: toBuiltFile(await readFile(path)) };
      }
      return kept.file;
    },

    async file(path, acceptEncoding = "") {
      if (!safePath.test(path)) {
        return undefined;
      }
      for (const [encoding, ending] of encodings) {
        if (takes(acceptEncoding, encoding)) {
          const packed = await readFile(`${folder}/${path}.${ending}`).catch(() => undefined);
          if (packed) {
            return { ...toBuiltFile(packed), encoding };
          }
        }
      }
      const bytes = await readFile(`${folder}/${path}`).catch(() => undefined);
      return bytes && toBuiltFile(bytes);
    },
  };
}

const encodings = [
  ["br", "br"],
  ["gzip", "gz"],
] as const;

/** Whether the header names the encoding and does not refuse it with a weight of zero. */
function takes(acceptEncoding: string, encoding: string): boolean {
  return new RegExp(String.raw`(^|[\s,])${encoding}\s*(,|$|;(?!\s*q=0(\.0*)?\s*(,|$)))`).test(acceptEncoding);
}

function toBuiltFile(bytes: Buffer): BuiltFile {
  return { bytes, etag: toEtag(bytes) };
}

export function toEtag(...parts: (Buffer | string)[]): string {
  const hash = createHash("sha256");
  parts.forEach((part) => hash.update(part));
  return `"${hash.digest("base64url").slice(0, 22)}"`;
}
