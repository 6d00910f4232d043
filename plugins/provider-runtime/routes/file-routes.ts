import { z } from "zod";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type RequestInfo, stream } from "#kernel/http/route.ts";
import type { Upload } from "#kernel/http/upload.ts";
import { watchCreation } from "../model-files/announce-models.ts";
import { chooseBackend, type ManageOptions } from "../model-files/manage.ts";
import type { Backend } from "../backends/backend.ts";
import { streamProgress } from "../model-files/progress.ts";
import { deliver, type ModelFile, type ModelFiles, storeFile } from "../model-files/model-files.ts";
import { Index } from "./indexed.ts";

export interface FileRoutesOptions extends ManageOptions {
  readonly egress: Egress;
  readonly files: ModelFiles;
  /** OLLAMA_MODEL_FILE_MAX_BYTES. */
  maxBytes(): number;
}

const Download = z.object({
  url: z.url({ protocol: /^https?$/ }).max(4096),
  /** Name of the model; the file's without its ending when left out. */
  model: z.string().min(1).max(1024).nullish(),
});

const declared = { method: "POST", access: "admin", fails: [404, 413, 502, 503, 504] } as const;
const events = "text/event-stream";

interface RouteInput {
  readonly caller: Principal;
  readonly request: RequestInfo;
}

/** Model files that come from an administrator's disk or from a site, with their progress as events (contract §2.3). */
export function fileRoutes(options: FileRoutesOptions) {
  const download = (input: RouteInput & { body: z.output<typeof Download> }, index?: number) => {
    const target = chooseBackend(options.backends, index);
    return stream(fromUrl(options, { ...input, target }));
  };
  const upload = (input: RouteInput & { upload: Upload }, index?: number) =>
    fromForm(options, { ...input, target: chooseBackend(options.backends, index) });
  const paths = {
    download: { ...declared, summary: "Make a model of a file on the web", body: Download, produces: events },
    upload: { ...declared, summary: "Make a model of an uploaded file", upload: true, produces: events },
  } as const;
  return [
    defineRoute({ ...paths.download, path: "/models/download" }, (input) => download(input)),
    defineRoute({ ...paths.download, path: "/models/download/:idx", params: Index }, (input) =>
      download(input, input.params.idx),
    ),
    defineRoute({ ...paths.upload, path: "/models/upload" }, (input) => upload(input)),
    defineRoute({ ...paths.upload, path: "/models/upload/:idx", params: Index }, (input) =>
      upload(input, input.params.idx),
    ),
  ] as const;
}

interface Sent extends RouteInput {
  readonly target: Backend;
}

/** Resolves once the form has arrived: until then a failure is an answer of its own. */
async function fromForm(options: FileRoutesOptions, { upload, ...sent }: Sent & { upload: Upload }) {
  const { files, maxBytes } = options;
  const received = Promise.withResolvers<void>();
  const reports = streamProgress((report) =>
    files
      .within(async (folder) => {
        const { result, fields } = await upload.receive("file", { maxBytes: maxBytes() }, async (given) => ({
          file: await storeFile(given.stream, { folder, maxBytes: maxBytes() }),
          fileName: toFileName(given.filename),
        }));
        received.resolve();
        const model = fields["model"] || toModelName(result.fileName);
        await makeModel(options, { ...sent, ...result, model, report });
      })
      .catch((error: unknown) => {
        received.reject(error);
        throw error;
      }),
  );
  await received.promise;
  return stream(reports);
}

/** Downloads to this server first: a backend wants to know the digest before it takes a file. */
function fromUrl(options: FileRoutesOptions, { body, ...sent }: Sent & { body: z.output<typeof Download> }) {
  const fileName = toFileName(new URL(body.url).pathname);
  return streamProgress((report) =>
    options.files.within(async (folder) => {
      const file = await fetchFile(options, { url: body.url, folder, signal: sent.request.signal, report });
      await makeModel(options, {
        ...sent,
        file,
        fileName,
        model: body.model ?? toModelName(fileName),
        report,
      });
    }),
  );
}

interface Downloading {
  readonly url: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  report(value: unknown): void;
}

async function fetchFile(
  { egress, maxBytes }: FileRoutesOptions,
  { url, folder, signal, report }: Downloading,
): Promise<ModelFile> {
  // An administrator named the address (contract D.15).
  const answer = await egress.request(url, { trust: "operator", signal });
  if (answer.status !== 200) {
    answer.body.destroy();
    const isRedirect = answer.status >= 300 && answer.status < 400;
    const hint = isRedirect ? " Redirects are followed with AIOHTTP_CLIENT_ALLOW_REDIRECTS." : "";
    throw new AppError("upstream", `The site answered with status ${answer.status}.${hint}`);
  }
  const total = Number(answer.headers["content-length"] ?? 0);
  let reported = 0;
  return storeFile(answer.body, {
    folder,
    maxBytes: maxBytes(),
    progress(completed) {
      if (completed - reported > total / 200 + 1024 * 1024) {
        reported = completed;
        report({ progress: total > 0 ? Math.floor((100 * completed) / total) : null, completed, total });
      }
    },
  });
}

interface Making extends Sent {
  readonly file: ModelFile;
  readonly fileName: string;
  readonly model: string;
  report(value: unknown): void;
}

async function makeModel(
  options: FileRoutesOptions,
  { file, fileName, model, caller, request, target, report }: Making,
): Promise<void> {
  report({ progress: 100, completed: file.size, total: file.size });
  const finish = await watchCreation(options, { by: caller, backend: target, name: model });
  const context = { principal: caller, signal: request.signal };
  for await (const each of deliver({
    client: options.client,
    backend: target,
    file,
    fileName,
    model,
    context,
  })) {
    report(each);
  }
  await finish();
}

/** A name without folders, of characters that backends take. */
function toFileName(given: string): string {
  const name = given.split(/[/\\]/).at(-1) ?? "";
  return (
    name
      .replaceAll(/[^\w.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 200) || "model.gguf"
  );
}

function toModelName(fileName: string): string {
  return fileName.replace(/\.(?:gguf|bin|safetensors)$/i, "").toLowerCase() || "model";
}
