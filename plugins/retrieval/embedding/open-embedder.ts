import { join } from "node:path";
import { AppError } from "#kernel/errors.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { RetrievalSettings } from "../config.ts";
import { type Embedder, type EmbeddingModel, normalize } from "./embedder.ts";
import { embedOnServer } from "./servers.ts";
import type { ModelFetch } from "./model-fetch.ts";
import type { TextThread } from "./thread.ts";
import type { ThreadModel } from "./thread-protocol.ts";

export interface EmbedderParts {
  readonly settings: RetrievalSettings;
  readonly egress: Egress;
  readonly thread: TextThread;
  readonly models: ModelFetch;
  /** DATA_DIR. */
  readonly dataDir: string;
}

/** Id of the model that comes with the program. */
export const builtInModel = "model-embeddings-en";
const standardLocalModel = "all-MiniLM-L6-v2";

/** The model that the settings name. */
export function currentModel({ engine, model }: RetrievalSettings): EmbeddingModel {
  const standard = engine === "local" ? standardLocalModel : model;
  return { engine, model: engine === "" ? builtInModel : model || standard };
}

/** The embedder of a model, whose address and key are those of the settings at the time of each call. */
export function openEmbedder(parts: EmbedderParts, model: EmbeddingModel): Embedder {
  const { settings, thread, egress, models } = parts;
  return {
    async embed(texts, { isQuestion, signal }) {
      signal.throwIfAborted();
      if (model.engine === "" || model.engine === "local") {
        const folder = model.engine === "" ? undefined : toFolder(parts.dataDir, model.model);
        if (folder !== undefined) {
          // Somebody waits for the answer to a question, and not for a model.
          await models.ensure(model.model, folder, { waits: !isQuestion });
        }
        const kind: ThreadModel = folder === undefined ? { kind: "built-in" } : { kind: "onnx", folder };
        const vectors = await thread.embed(kind, texts, isQuestion);
        signal.throwIfAborted();
        return vectors.map(normalize);
      }
      if (model.model === "") {
        throw new AppError("unavailable", "No embedding model is set: RAG_EMBEDDING_MODEL is empty.");
      }
      return (await embedOnServer(egress, settings, { model, texts, signal })).map(normalize);
    },
  };
}

/** Names of hubs have a slash; only their last part names the folder, which is never outside of `models`. */
function toFolder(dataDir: string, model: string): string {
  const name = model.split("/").at(-1) ?? "";
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new AppError("unavailable", "RAG_EMBEDDING_MODEL is no name of a folder in DATA_DIR/models.");
  }
  return join(dataDir, "models", name);
}
