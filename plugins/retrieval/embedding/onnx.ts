import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ModelError, type TextModel } from "./text-model.ts";

interface Tensor {
  readonly data: Float32Array | BigInt64Array;
  readonly dims: readonly number[];
}

interface Session {
  readonly inputNames: readonly string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
}

/** The part of the ONNX runtimes that is used; both share it. */
interface Runtime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly env: { wasm: { numThreads?: number } };
}

interface Tokenizer {
  encode(text: string): { ids: number[]; attention_mask: number[] };
}

/** Names under which models are published, from the smaller ones. */
const modelFiles = [
  "model_quantized.onnx",
  "model_int8.onnx",
  "model.onnx",
  "onnx/model_quantized.onnx",
  "onnx/model_int8.onnx",
  "onnx/model.onnx",
];
/** Longest text in tokens where the tokenizer names no other. */
const standardLength = 512;

/** Opens a sentence encoder: the mean of its last hidden states is the vector. Throws ModelError. */
export async function openOnnx(folder: string): Promise<TextModel> {
  const [runtime, tokenizers] = await Promise.all([loadRuntime(folder), loadTokenizers(folder)]);
  const bytes = await readModel(folder);
  const settings = await readJson(folder, "tokenizer_config.json").catch(
    () => ({}) as Record<string, unknown>,
  );
  const tokenizer = new tokenizers.Tokenizer(await readTokenizer(folder), settings);
  // Two threads are slower than one where the machine has other work.
  runtime.env.wasm.numThreads = 1;
  const session = await runtime.InferenceSession.create(bytes, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const given = Number(settings["model_max_length"]);
  const length = given > 0 && given < standardLength ? given : standardLength;

  return async (text) => {
    const { ids, attention_mask: mask } = tokenizer.encode(text);
    // The last token ends the text for the model.
    const kept = ids.length > length ? [...ids.slice(0, length - 1), ids.at(-1) as number] : ids;
    const toTensor = (values: readonly number[]) =>
      new runtime.Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
    const feeds: Record<string, Tensor> = {
      input_ids: toTensor(kept),
      attention_mask: toTensor(mask.slice(0, kept.length)),
      token_type_ids: toTensor(kept.map(() => 0)),
    };
    const wanted = session.inputNames.map((name) => [name, feeds[name]] as const);
    const missing = wanted.find(([, tensor]) => tensor === undefined);
    if (missing) {
      throw new ModelError(`The embedding model wants an input that is not known: ${missing[0]}.`);
    }
    return pool(await session.run(Object.fromEntries(wanted) as Record<string, Tensor>));
  };
}

/** The mean over the tokens; nothing is padded, so each token counts. */
function pool(outputs: Record<string, Tensor>): Float32Array {
  const whole = outputs["sentence_embedding"] ?? outputs["last_hidden_state"] ?? Object.values(outputs)[0];
  if (!(whole?.data instanceof Float32Array)) {
    throw new ModelError("The embedding model gives no vectors.");
  }
  const size = whole.dims.at(-1) ?? 0;
  const mean = new Float32Array(size);
  const tokens = whole.data.length / size;
  for (let at = 0; at < whole.data.length; at += 1) {
    (mean[at % size] as number) += (whole.data[at] as number) / tokens;
  }
  return mean;
}

async function loadRuntime(folder: string): Promise<Runtime> {
  for (const name of ["onnxruntime-node", "onnxruntime-web"]) {
    const runtime = await loadPackage<Runtime>(name, "InferenceSession", folder);
    if (runtime !== undefined) {
      return runtime;
    }
  }
  throw new ModelError(
    `The embedding engine local needs a runtime: npm install --prefix ${dirname(folder)} onnxruntime-node (fast) or onnxruntime-web.`,
  );
}

interface Tokenizers {
  readonly Tokenizer: new (json: object, config: object) => Tokenizer;
}

async function loadTokenizers(folder: string): Promise<Tokenizers> {
  const name = "@huggingface/tokenizers";
  const found = await loadPackage<Tokenizers>(name, "Tokenizer", folder);
  if (found === undefined) {
    const command = `npm install --prefix ${dirname(folder)} ${name}`;
    throw new ModelError(`The embedding engine local needs a package: ${command}.`);
  }
  return found;
}

/** A package of the program, or of the folder of models, where it outlives a new version of the program. */
async function loadPackage<Module>(
  name: string,
  member: keyof Module & string,
  folder: string,
): Promise<Module | undefined> {
  try {
    const path = resolvePackage(name, [import.meta.url, join(folder, "package.json")]);
    if (path === undefined) {
      return undefined;
    }
    const loaded = (await import(pathToFileURL(path).href)) as object;
    // Of a CommonJS module the loader may give the whole as the default alone.
    return (member in loaded ? loaded : (loaded as { readonly default: unknown }).default) as Module;
  } catch (error) {
    throw new ModelError(`${name} cannot be loaded: ${(error as Error).message}`, { cause: error });
  }
}

function resolvePackage(name: string, places: readonly string[]): string | undefined {
  for (const place of places) {
    try {
      return createRequire(place).resolve(name);
    } catch (error) {
      if ((error as { code?: string }).code !== "MODULE_NOT_FOUND") {
        throw error;
      }
    }
  }
  return undefined;
}

async function readModel(folder: string): Promise<Uint8Array> {
  for (const name of modelFiles) {
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    if (bytes) {
      return bytes;
    }
  }
  throw new ModelError("The folder of the embedding model in DATA_DIR/models has no model.onnx.");
}

async function readTokenizer(folder: string): Promise<object> {
  return readJson(folder, "tokenizer.json").catch((cause: unknown) => {
    throw new ModelError("The folder of the embedding model in DATA_DIR/models has no tokenizer.json.", {
      cause,
    });
  });
}

async function readJson(folder: string, name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(folder, name), "utf8")) as Record<string, unknown>;
}
