import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";

export interface ModelFetchParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly log: Logger;
  /** Address of the hub; empty while nothing may be fetched. */
  hub(): string;
  readonly stopping: AbortSignal;
}

/** How far a model has come; `total` is undefined where the hub does not tell. */
export interface FetchProgress {
  readonly model: string;
  readonly received: number;
  readonly total: number | undefined;
}

export interface ModelFetch {
  /** The fetch that runs now. */
  progress(): FetchProgress | undefined;
  /**
   * Resolves once the folder is there. Rejects with `unavailable` and the reason; with `waits` false also while the
   * model is on its way.
   */
  ensure(model: string, folder: string, how: { readonly waits: boolean }): Promise<void>;
}

/** Files of a model by the names that hubs publish, from the smaller weights on; the first that is there is taken. */
const wanted = [
  {
    names: ["onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx", "model.onnx"],
    as: "model.onnx",
    isNeeded: true,
  },
  { names: ["tokenizer.json"], as: "tokenizer.json", isNeeded: true },
  { names: ["tokenizer_config.json"], as: "tokenizer_config.json", isNeeded: false },
] as const;
/** The owner of models that are named without one, as sentence-transformers has it. */
const standardOwner = "sentence-transformers";
const mostBytes = 4 * 1024 ** 3;

/** Fetches models of the engine `local` from a hub: `GET /<owner>/<model>/resolve/main/<file>`. */
export function createModelFetch(parts: ModelFetchParts): ModelFetch {
  const running = new Map<string, Promise<void>>();
  let progress: FetchProgress | undefined;

  async function fetchAll(model: string, folder: string): Promise<void> {
    const part = `${folder}.part-${randomUUID()}`;
    progress = { model, received: 0, total: undefined };
    parts.log.info({ model, hub: parts.hub() }, "fetching an embedding model");
    try {
      await mkdir(part, { recursive: true });
      for (const file of wanted) {
        await fetchFirst(parts, { model, path: join(part, file.as), file }, (received, total) => {
          progress = { model, received, total };
        });
      }
      await mkdir(dirname(folder), { recursive: true });
      await rename(part, folder);
      parts.log.info({ model }, "an embedding model was fetched");
    } finally {
      progress = undefined;
      await rm(part, { recursive: true, force: true });
    }
  }

  return {
    progress: () => progress,
    async ensure(model, folder, { waits }) {
      if (await isThere(folder)) {
        return;
      }
      if (parts.hub() === "") {
        throw new AppError(
          "unavailable",
          `The embedding model ${model} is not in DATA_DIR/models, and this server fetches none (OFFLINE_MODE, RAG_EMBEDDING_HUB_URL).`,
        );
      }
      const fetching = running.get(folder) ?? fetchAll(model, folder).finally(() => running.delete(folder));
      running.set(folder, fetching);
      if (!waits) {
        // The work behind it tells why it failed.
        fetching.catch(() => undefined);
        throw new AppError(
          "unavailable",
          describeFetch(progress ?? { model, received: 0, total: undefined }),
        );
      }
      await fetching;
    },
  };
}

/** A sentence for people. */
export function describeFetch({ model, received, total }: FetchProgress): string {
  const share = total === undefined ? "" : ` (${Math.floor((received / total) * 100)} %)`;
  return `The embedding model ${model} is being fetched${share}.`;
}

const isThere = (folder: string) =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );

interface Wanted {
  readonly model: string;
  readonly path: string;
  readonly file: (typeof wanted)[number];
}

async function fetchFirst(
  parts: ModelFetchParts,
  { model, path, file }: Wanted,
  onProgress: (received: number, total: number | undefined) => void,
): Promise<void> {
  for (const name of file.names) {
    const answer = await open(parts, model, name);
    if (answer.status === 404) {
      await answer.body?.cancel().catch(() => undefined);
      continue;
    }
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel().catch(() => undefined);
      throw refuse(model, `the hub answered ${answer.status} for ${name}.`);
    }
    await store(answer, path, onProgress).catch((cause: unknown) => {
      parts.stopping.throwIfAborted();
      throw refuse(model, `${name} broke off.`, cause);
    });
    return;
  }
  if (file.isNeeded) {
    throw refuse(model, `the hub has no ${file.names.join(" or ")} of it.`);
  }
}

async function open(
  { egress, hub, stopping }: ModelFetchParts,
  model: string,
  name: string,
): Promise<Response> {
  const id = model.includes("/") ? model : `${standardOwner}/${model}`;
  const path = `${id}/resolve/main/${name}`.split("/").map(encodeURIComponent).join("/");
  return await egress
    .fetch(`${hub().replace(/\/$/, "")}/${path}`, {
      trust: "operator",
      signal: stopping,
      timeoutMs: null,
      maxBytes: mostBytes,
    })
    .catch((cause: unknown) => {
      stopping.throwIfAborted();
      const reason =
        cause instanceof AppError && typeof cause.detail === "string" ? `: ${cause.detail}` : ".";
      throw refuse(model, `the hub cannot be reached${reason}`, cause);
    });
}

async function store(
  answer: Response,
  path: string,
  onProgress: (received: number, total: number | undefined) => void,
): Promise<void> {
  const length = Number(answer.headers.get("content-length"));
  const total = length > 0 ? length : undefined;
  let received = 0;
  const counter = new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      received += piece.length;
      onProgress(received, total);
      done(null, piece);
    },
  });
  const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
  await pipeline(body, counter, createWriteStream(path));
}

function refuse(model: string, reason: string, cause?: unknown): AppError {
  const detail = `The embedding model ${model} could not be fetched: ${reason} Put its model.onnx and tokenizer.json into a folder in DATA_DIR/models, or name another model.`;
  return new AppError("unavailable", detail, { cause });
}
