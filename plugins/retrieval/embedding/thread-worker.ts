import { readlinkSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { detectConfiguration } from "../passages/language.ts";
import { openBuiltIn } from "./built-in.ts";
import { openOnnx } from "./onnx.ts";
import { ModelError, type TextModel } from "./text-model.ts";
import type { ThreadModel, ThreadReply, ThreadRequest } from "./thread-protocol.ts";

const port = parentPort!;
const models = new Map<string, Promise<TextModel>>();
const urgent: (() => Promise<void>)[] = [];
const patient: (() => Promise<void>)[] = [];
let isWorking = false;

letOthersGoFirst();

port.on("message", (request: ThreadRequest) => {
  (request.urgent ? urgent : patient).push(...toSteps(request));
  if (!isWorking) {
    isWorking = true;
    void work();
  }
});

/** Text by text, so that a question waits for one passage at most. */
async function work(): Promise<void> {
  for (let step = urgent.shift() ?? patient.shift(); step; step = urgent.shift() ?? patient.shift()) {
    await step();
    // Requests that came meanwhile are read now.
    await nextTurn();
  }
  isWorking = false;
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
const post = (reply: ThreadReply) => port.postMessage(reply);

function toSteps(request: ThreadRequest): (() => Promise<void>)[] {
  const { id } = request;
  let failed = false;
  const guarded = (run: () => Promise<void>) => async () => {
    try {
      await (failed ? undefined : run());
    } catch (error) {
      failed = true;
      post({ id, error: (error as Error).message, isForPeople: error instanceof ModelError });
    }
  };
  if (request.op === "detect") {
    return [guarded(async () => post({ id, language: await detectConfiguration(request.text) }))];
  }
  const vectors: Float32Array[] = [];
  return request.texts.map((text, index) =>
    guarded(async () => {
      const embed = await open(request.model);
      vectors.push(await embed(text));
      if (index === request.texts.length - 1) {
        post({ id, vectors });
      }
    }),
  );
}

function open(model: ThreadModel): Promise<TextModel> {
  const key = model.kind === "onnx" ? model.folder : "";
  const known = models.get(key);
  if (known) {
    return known;
  }
  const opened = model.kind === "onnx" ? openOnnx(model.folder) : openBuiltIn();
  models.set(key, opened);
  // What could not be opened may be installed meanwhile.
  opened.catch(() => models.delete(key));
  return opened;
}

/** Where the event loop wants the same processor, it has it; see storage/embedded/worker.ts. */
function letOthersGoFirst(): void {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
    setPriority(thread, Math.min(PRIORITY_LOW, getPriority(thread) + PRIORITY_BELOW_NORMAL));
  } catch {
    // A system that does not let a thread step back is slower under load, and right all the same.
  }
}
