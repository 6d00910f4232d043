import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

/** Files of the package that browsers load; the rest of it is for other uses. */
const names = new Set(["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]);

const folder = fileURLToPath(new URL(".", import.meta.resolve("pyodide/package.json")));

/** The version of Pyodide that is installed; part of the addresses of its files. */
export const pyodideVersion = (
  JSON.parse(readFileSync(`${folder}package.json`, "utf8")) as { version: string }
).version;

/** A package of a Pyodide lock file, as far as it is looked at. */
export interface LockedPackage {
  readonly name: string;
  readonly file_name: string;
  readonly sha256: string;
  readonly [key: string]: unknown;
}

/** A Pyodide lock file. */
export interface Lock {
  readonly info: { readonly abi_version?: string; readonly python: string; readonly [key: string]: unknown };
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** The lock file of the package: it names what was built for this version, with hashes, but holds no wheels. */
export async function readOwnLock(): Promise<Lock> {
  return JSON.parse(await readFile(`${folder}pyodide-lock.json`, "utf8")) as Lock;
}

/** A file of the runtime. */
export interface RuntimeFile {
  readonly bytes: Buffer;
  readonly encoding?: "br";
}

const compress = promisify(brotliCompress);
const quality = 5;

/** Reads files of the runtime; what pays is compressed once, on zlib's own threads, and kept. */
export function createRuntimeFiles() {
  const packed = new Map<string, Promise<Buffer>>();
  const pack = (name: string): Promise<Buffer> => {
    const known = packed.get(name) ?? readFile(folder + name).then(compressed);
    packed.set(name, known);
    return known;
  };
  return {
    /** Undefined for what is no file of the runtime. */
    async read(name: string, takesBrotli: boolean): Promise<RuntimeFile | undefined> {
      if (!names.has(name)) {
        return undefined;
      }
      return takesBrotli && !name.endsWith(".zip")
        ? { bytes: await pack(name), encoding: "br" }
        : { bytes: await readFile(folder + name) };
    },
  };
}

function compressed(bytes: Buffer): Promise<Buffer> {
  return compress(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
}
