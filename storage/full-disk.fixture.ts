// Another process for tests, started with a small limit for files: writes more than fits and tells what is left.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openBlobs } from "./blobs.ts";

// The signal of the limit would end the process; without it writing fails, as on a full disk.
process.on("SIGXFSZ", () => {});
const [dataDir = ""] = process.argv.slice(2);
const blobs = await openBlobs({ dataDir });

async function* bytes(count: number) {
  for (let block = 0; block < count; block += 1) {
    yield new Uint8Array(16_384);
  }
}

await blobs.write("small", bytes(1));
const failed = await blobs.write("large", bytes(100)).then(
  () => false,
  () => true,
);
const left = await readdir(join(dataDir, "uploads", ".incoming"));
process.stdout.write(JSON.stringify({ failed, keys: await blobs.keys(), left }));
