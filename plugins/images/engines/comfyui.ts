import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "#kernel/errors.ts";
import { requirePicture, toEnding } from "../picture-type.ts";
import type { EditWish, ImageEngine, Picture, PictureWish } from "../service.ts";
import type { WorkflowNode } from "../workflow-node.ts";
import {
  askForBytes,
  askForJson,
  type EngineCall,
  type EngineServer,
  toBearer,
  toObjects,
  toServer,
} from "#kernel/upstream/engine-call.ts";
import type { EngineParts } from "./parts.ts";

const title = "ComfyUI";
const [firstDelayMs, longestDelayMs] = [200, 2_000];
/** Milliseconds that the server has for taking a workflow back. */
const cancelMs = 5_000;

/** The input of a node that takes a part of the request, where the settings name no other. */
const usualKeys: Readonly<Record<WorkflowNode["type"], string>> = {
  prompt: "text",
  negative_prompt: "text",
  model: "ckpt_name",
  width: "width",
  height: "height",
  n: "batch_size",
  steps: "steps",
  seed: "seed",
  image: "image",
};

interface Work {
  readonly server: EngineServer;
  readonly workflow: string;
  readonly nodes: readonly WorkflowNode[];
  /** Name of the variable that holds the workflow. */
  readonly variable: string;
}

/**
 * `POST /prompt` takes a workflow, `GET /history/<id>` tells when it is done and which pictures it made, `GET /view`
 * gives them. Pictures that are to be changed go to `POST /upload/image` first. `POST /queue {delete}` takes a waiting
 * workflow back, `POST /interrupt {prompt_id}` a running one.
 */
export function createComfyUi({ egress, settings }: EngineParts): ImageEngine {
  const own = (): Work => ({
    server: toServer({ url: settings.comfyUrl, key: settings.comfyKey }),
    workflow: settings.comfyWorkflow,
    nodes: settings.comfyNodes,
    variable: "COMFYUI_WORKFLOW",
  });
  const forEdits = (): Work => ({
    server: toServer(
      { url: settings.editComfyUrl, key: settings.editComfyKey },
      { url: settings.comfyUrl, key: settings.comfyKey },
    ),
    workflow: settings.editComfyWorkflow,
    nodes: settings.editComfyNodes,
    variable: "IMAGES_EDIT_COMFYUI_WORKFLOW",
  });
  const timeLimit = () => settings.timeout * 1000;
  const draw = (wish: PictureWish, work: Work, images: readonly string[] = []) =>
    runWorkflow(createCaller({ egress }, work.server, wish.signal, timeLimit()), { wish, work, images });
  return {
    id: "comfyui",
    title,
    variables: ["COMFYUI_BASE_URL", "COMFYUI_API_KEY", "COMFYUI_WORKFLOW", "COMFYUI_WORKFLOW_NODES"],
    missing: () => [
      ...(settings.comfyUrl === "" ? ["COMFYUI_BASE_URL"] : []),
      ...(settings.comfyWorkflow === "" ? ["COMFYUI_WORKFLOW"] : []),
    ],
    async models(signal) {
      const call = createCaller({ egress }, own().server, signal, timeLimit());
      const answer = await call.json("object_info/CheckpointLoaderSimple");
      const loader = answer["CheckpointLoaderSimple"] as
        | { input?: { required?: { ckpt_name?: unknown } } }
        | undefined;
      const named = loader?.input?.required?.ckpt_name;
      const list = Array.isArray(named) && Array.isArray(named[0]) ? named[0] : [];
      return list.map((id) => ({ id: String(id), name: String(id) }));
    },
    generate: (wish) => draw({ ...wish, model: wish.model || settings.model || undefined }, own()),
    async edit(wish) {
      const work = forEdits();
      const call = createCaller({ egress }, work.server, wish.signal, timeLimit());
      const names = await Promise.all(wish.images.map((image) => uploadPicture(call, image)));
      return await draw({ ...wish, model: wish.model || settings.editModel || undefined }, work, names);
    },
  };
}

interface Caller {
  json(path: string, body?: EngineCall["body"]): Promise<Record<string, unknown>>;
  bytes(path: string): Promise<Buffer>;
  /** Sends although the time is over or the caller left. */
  afterwards(path: string, body?: EngineCall["body"]): Promise<Buffer>;
  readonly signal: AbortSignal;
}

function createCaller(
  { egress }: Pick<EngineParts, "egress">,
  { url, key }: EngineServer,
  callerSignal: AbortSignal,
  timeoutMs: number,
): Caller {
  if (url === "") {
    throw new AppError("unavailable", `${title} has no address yet.`);
  }
  // One time limit holds for all calls of a picture together.
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([callerSignal, limit]);
  const headers = toBearer(key);
  const guard = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      callerSignal.throwIfAborted();
      throw limit.aborted ? toLate() : error;
    }
  };
  const facts = { title, headers, timeoutMs, signal };
  return {
    signal,
    json: (path, body) =>
      guard(askForJson(egress, { ...facts, url: `${url}/${path}`, ...(body && { method: "POST", body }) })),
    bytes: (path) => guard(askForBytes(egress, { ...facts, url: `${url}/${path}` })),
    afterwards(path, body) {
      const own = { ...facts, timeoutMs: cancelMs, signal: AbortSignal.timeout(cancelMs) };
      return askForBytes(egress, { ...own, url: `${url}/${path}`, ...(body && { method: "POST", body }) });
    },
  };
}

const toLate = () => new AppError("timeout", `${title} made no picture in time.`);

async function uploadPicture(call: Caller, image: Picture): Promise<string> {
  const form = new FormData();
  const file = new Blob([Buffer.from(image.bytes)], { type: image.contentType });
  form.append("image", file, `${randomUUID()}.${toEnding(image)}`);
  const { name, subfolder } = await call.json("upload/image", form);
  return typeof subfolder === "string" && subfolder !== "" ? `${subfolder}/${String(name)}` : String(name);
}

interface Order {
  readonly wish: PictureWish | EditWish;
  readonly work: Work;
  /** Names of pictures on the server. */
  readonly images: readonly string[];
}

async function runWorkflow(call: Caller, order: Order): Promise<readonly Picture[]> {
  const { prompt_id: id } = await call.json("prompt", {
    prompt: fillWorkflow(order),
    client_id: randomUUID(),
  });
  if (typeof id !== "string") {
    throw new AppError("upstream", `${title} did not take the workflow.`);
  }
  const outputs = await waitForOutputs(call, id).catch(async (error: unknown) => {
    if (call.signal.aborted) {
      await cancelWorkflow(call, id).catch(() => {});
    }
    throw error;
  });
  const named = Object.values(outputs).flatMap((output) =>
    toObjects((output as { images?: unknown }).images),
  );
  const results = named.filter(({ type }) => type === "output");
  const wanted = (results.length > 0 ? results : named).slice(0, order.wish.count);
  return await Promise.all(
    wanted.map(async ({ filename, subfolder, type }) => {
      const query = new URLSearchParams({
        filename: String(filename),
        subfolder: String(subfolder ?? ""),
        type: String(type ?? "output"),
      });
      return requirePicture(await call.bytes(`view?${query.toString()}`), title);
    }),
  );
}

/**
 * Takes a workflow back. Older servers interrupt whatever runs, so that `/interrupt` is asked for only while the
 * workflow is the one that runs.
 */
async function cancelWorkflow(call: Caller, id: string): Promise<void> {
  await call.afterwards("queue", { delete: [id] });
  const queue: unknown = JSON.parse((await call.afterwards("queue")).toString());
  const running = (queue as { queue_running?: unknown } | null)?.queue_running;
  // An entry is [number, id, workflow, …].
  if (Array.isArray(running) && running.some((entry) => Array.isArray(entry) && entry[1] === id)) {
    await call.afterwards("interrupt", { prompt_id: id });
  }
}

async function waitForOutputs(call: Caller, id: string): Promise<Record<string, unknown>> {
  for (let delay = firstDelayMs; ; delay = Math.min(longestDelayMs, delay * 2)) {
    const history = await call.json(`history/${encodeURIComponent(id)}`);
    const { outputs, status } = (history[id] ?? {}) as {
      outputs?: unknown;
      status?: { status_str?: unknown };
    };
    if (status?.status_str === "error") {
      throw new AppError("upstream", `${title}: the workflow failed.`);
    }
    if (typeof outputs === "object" && outputs !== null && Object.keys(outputs).length > 0) {
      return outputs as Record<string, unknown>;
    }
    await pause(delay, undefined, { signal: call.signal }).catch((error: unknown) => {
      throw call.signal.reason instanceof DOMException && call.signal.reason.name === "TimeoutError"
        ? toLate()
        : error;
    });
  }
}

/** The workflow with the request's parts in the nodes that take them. Throws `unavailable` for one that cannot be filled. */
function fillWorkflow({ wish, work, images }: Order): Record<string, unknown> {
  if (work.workflow === "") {
    throw new AppError("unavailable", `${title} needs a workflow: ${work.variable} is not set.`);
  }
  const graph = JSON.parse(work.workflow) as Record<string, { inputs?: Record<string, unknown> } | undefined>;
  const values: Readonly<Record<WorkflowNode["type"], unknown>> = {
    prompt: wish.prompt,
    negative_prompt: wish.negativePrompt,
    model: wish.model,
    width: wish.size?.width,
    height: wish.size?.height,
    n: wish.count,
    steps: wish.steps,
    seed: randomInt(2 ** 47),
    image: images[0],
  };
  for (const { type, node_ids: ids, key = usualKeys[type] } of work.nodes) {
    ids.forEach((id, at) => {
      const node = graph[id];
      if (node === undefined) {
        throw new AppError(
          "unavailable",
          `${title}: the workflow has no node "${id}", which ${work.variable}_NODES names.`,
        );
      }
      const value = type === "image" ? images[Math.min(at, images.length - 1)] : values[type];
      if (value !== undefined) {
        (node.inputs ??= {})[key] = value;
      }
    });
  }
  return graph;
}
