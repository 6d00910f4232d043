// Builds the interface into the folder that the first argument names, with compressed copies beside what compresses.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const [, , outDir] = process.argv;
/** Smaller files gain less than the head of an answer weighs. */
const leastBytes = 1_024;
const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 };

await build({
  configFile: `${root}plugins/web/vite.config.ts`,
  logLevel: "error",
  build: { outDir, emptyOutDir: true },
});
const names = (await readdir(outDir, { recursive: true })).filter((name) =>
  /\.(js|css|svg|html|json|wasm)$/.test(name),
);
await Promise.all(Array.from({ length: availableParallelism() }, compressNext));

async function compressNext() {
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const path = `${outDir}/${name}`;
    const bytes = await readFile(path);
    if (bytes.length >= leastBytes) {
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }
  }
}
