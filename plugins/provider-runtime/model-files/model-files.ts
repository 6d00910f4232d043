import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { CallContext } from "#kernel/completion/provider.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { Backend } from "../backends/backend.ts";
import type { RuntimeClient } from "../backends/client.ts";
import { NdjsonSplitter } from "../reply/ndjson-splitter.ts";

/** A model file that is sent to a backend. */
export interface ModelFile {
  readonly path: string;
  readonly size: number;
  /** `sha256:<hex>`, as backends name it. */
  readonly digest: string;
}

/** Places for model files on this server's disk. */
export interface ModelFiles {
  /** Runs `work` with an empty folder and removes the folder afterwards. */
  within<R>(work: (folder: string) => Promise<R>): Promise<R>;
  /** Removes folders that a crash left behind. */
  sweep(): Promise<void>;
}

const oldAfterMs = 24 * 3_600_000;
const largestAnswer = 1024 * 1024;

/** Keeps the files below `dataDir`, where there is room for what is too large for a temporary folder. */
export function createModelFiles(dataDir: string): ModelFiles {
  const root = join(dataDir, "model-files");
  return {
    async within(work) {
      await mkdir(root, { recursive: true });
      const folder = await mkdtemp(join(root, "model-"));
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    async sweep() {
      for (const name of await readdir(root).catch(() => [])) {
        const path = join(root, name);
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
        if (Date.now() - mtimeMs > oldAfterMs) {
          await rm(path, { recursive: true, force: true });
        }
      }
    },
  };
}

export interface StoreOptions {
  readonly folder: string;
  readonly maxBytes: number;
  /** Called with the bytes so far. */
  progress?(bytes: number): void;
}

/** Writes a stream to the folder, counting and hashing it on the way. Throws `too_large` beyond the limit. */
export async function storeFile(source: Readable, options: StoreOptions): Promise<ModelFile> {
  const hash = createHash("sha256");
  let size = 0;
  const meter = new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length;
      hash.update(piece);
      options.progress?.(size);
      done(size > options.maxBytes ? new AppError("too_large", "The model file is too large.") : null, piece);
    },
  });
  const path = join(options.folder, "file");
  await pipeline(source, meter, createWriteStream(path));
  return { path, size, digest: `sha256:${hash.digest("hex")}` };
}

export interface Delivery {
  readonly client: RuntimeClient;
  readonly backend: Backend;
  readonly file: ModelFile;
  /** The file's name in the model's recipe. */
  readonly fileName: string;
  readonly model: string;
  readonly context: CallContext;
}

/** Hands a file to a backend and has a model made of it; yields the backend's own reports. */
export async function* deliver(delivery: Delivery): AsyncGenerator<Record<string, unknown>> {
  const { client, backend, file, fileName, model, context } = delivery;
  const path = `/api/blobs/${file.digest}`;
  if (!(await isKnown(delivery, path))) {
    yield { status: "sending the file to the backend", total: file.size };
    const upstream = await client.open(backend, {
      path,
      body: createReadStream(file.path),
      headers: { "content-type": "application/octet-stream", "content-length": String(file.size) },
      context,
    });
    await readText(upstream.body, largestAnswer, context.signal);
  }
  const body = JSON.stringify({ model, files: { [fileName]: file.digest }, stream: true });
  const upstream = await client.open(backend, { path: "/api/create", body, isStream: true, context });
  const lines = new NdjsonSplitter({ hardLimit: largestAnswer });
  for await (const piece of upstream.body as Readable & AsyncIterable<Buffer>) {
    lines.push(piece);
    yield* reports(lines);
  }
  lines.end();
  yield* reports(lines);
  yield { done: true, blob: file.digest, name: fileName, model_created: model };
}

async function isKnown({ client, backend, context }: Delivery, path: string): Promise<boolean> {
  try {
    const upstream = await client.open(backend, { path, method: "HEAD", context });
    upstream.body.destroy();
    return true;
  } catch (error) {
    if (error instanceof ProviderError && error.status === 404) {
      return false;
    }
    throw error;
  }
}

function* reports(lines: NdjsonSplitter): Generator<Record<string, unknown>> {
  for (let line = lines.take(); line !== undefined; line = lines.take()) {
    if (line.trim() === "") {
      continue;
    }
    const report = JSON.parse(line) as Record<string, unknown>;
    if (report["error"] !== undefined) {
      throw new AppError("upstream", `The backend could not make the model: ${String(report["error"])}`);
    }
    yield report;
  }
}
