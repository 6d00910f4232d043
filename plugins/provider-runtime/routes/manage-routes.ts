import { z } from "zod";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import {
  chooseBackend,
  manage,
  type ManageOptions,
  type Managed,
  requireHolders,
  toOwnName,
} from "../model-files/manage.ts";
import { Index } from "./indexed.ts";

const id = z.string().min(1).max(1024);
/** The runtime's older clients call the model `name`. */
const Named = z
  .looseObject({ model: id.nullish(), name: id.nullish() })
  .refine((body) => body.model ?? body.name, { path: ["model"], message: "Required" });
const Copy = z.looseObject({ source: id, destination: id });

interface RouteInput {
  readonly caller: Principal;
  readonly request: RequestInfo;
  readonly body: z.output<typeof Named>;
}

const declared = { access: "admin", fails: [404, 502, 503, 504] } as const;
const largestAnswer = 1024 * 1024;

/** Routes of administrators for the models of backends (contract §2.3). */
export function manageRoutes(options: ManageOptions) {
  const { backends } = options;
  const start = ({ caller, request, body }: RouteInput, path: string, index?: number) => {
    const backend = chooseBackend(backends, index);
    return manage(options, {
      caller,
      request,
      path,
      backend,
      body: toOwnBody(body, backend),
      result: toOwnName(nameOf(body), backend),
    });
  };
  const push = ({ caller, request, body }: RouteInput, index?: number) => {
    const [holder] = requireHolders(backends, nameOf(body), index);
    const { backend, upstreamId } = holder as NonNullable<typeof holder>;
    const sent = { ...toOwnBody(body, backend), model: upstreamId };
    return manage(options, {
      caller,
      request,
      path: "/api/push",
      backend,
      body: sent,
      result: upstreamId,
    });
  };
  const copy = (
    { caller, request, body }: Omit<RouteInput, "body"> & { body: z.output<typeof Copy> },
    index?: number,
  ) => {
    const [holder] = requireHolders(backends, body.source, index);
    const { backend, upstreamId } = holder as NonNullable<typeof holder>;
    const sent = { source: upstreamId, destination: toOwnName(body.destination, backend), stream: false };
    return manage(options, {
      caller,
      request,
      path: "/api/copy",
      backend,
      body: sent,
      result: sent.destination,
    });
  };
  const remove = (input: RouteInput, index?: number) => removeEverywhere(options, input, index);

  const paths = {
    pull: { ...declared, method: "POST", summary: "Fetch a model onto a backend", body: Named },
    create: { ...declared, method: "POST", summary: "Make a model on a backend", body: Named },
    push: { ...declared, summary: "Publish a backend's model", body: Named },
    copy: { ...declared, method: "POST", summary: "Copy a model of a backend", body: Copy },
    remove: { ...declared, method: "DELETE", summary: "Delete a model from its backends", body: Named },
  } as const;
  return [
    unloadRoute(options),
    defineRoute({ ...paths.pull, path: "/api/pull" }, (input) => start(input, "/api/pull")),
    defineRoute({ ...paths.pull, path: "/api/pull/:idx", params: Index }, (input) =>
      start(input, "/api/pull", input.params.idx),
    ),
    defineRoute({ ...paths.create, path: "/api/create" }, (input) => start(input, "/api/create")),
    defineRoute({ ...paths.create, path: "/api/create/:idx", params: Index }, (input) =>
      start(input, "/api/create", input.params.idx),
    ),
    defineRoute({ ...paths.push, method: "POST", path: "/api/push" }, (input) => push(input)),
    defineRoute({ ...paths.push, method: "POST", path: "/api/push/:idx", params: Index }, (input) =>
      push(input, input.params.idx),
    ),
    defineRoute({ ...paths.push, method: "DELETE", path: "/api/push" }, (input) => push(input)),
    defineRoute({ ...paths.push, method: "DELETE", path: "/api/push/:idx", params: Index }, (input) =>
      push(input, input.params.idx),
    ),
    defineRoute({ ...paths.copy, path: "/api/copy" }, (input) => copy(input)),
    defineRoute({ ...paths.copy, path: "/api/copy/:idx", params: Index }, (input) =>
      copy(input, input.params.idx),
    ),
    defineRoute({ ...paths.remove, path: "/api/delete" }, (input) => remove(input)),
    defineRoute({ ...paths.remove, path: "/api/delete/:idx", params: Index }, (input) =>
      remove(input, input.params.idx),
    ),
  ] as const;
}

function unloadRoute({ backends, client }: ManageOptions) {
  return defineRoute(
    {
      ...declared,
      method: "POST",
      path: "/api/unload",
      summary: "Free what backends hold in memory for a model",
      body: Named,
      returns: z.object({ status: z.literal(true) }),
    },
    async ({ caller, request, body }) => {
      const context = { principal: caller, signal: request.signal };
      await Promise.all(
        requireHolders(backends, nameOf(body)).map(async ({ backend, upstreamId }) => {
          const sent = JSON.stringify({ model: upstreamId, prompt: "", keep_alive: 0, stream: false });
          const upstream = await client.open(backend, { path: "/api/generate", body: sent, context });
          await readText(upstream.body, largestAnswer, request.signal);
          await backends.refresh(backend);
        }),
      );
      return { status: true as const };
    },
  );
}

/** From every backend that holds it, so that what was deleted is gone from the list. */
async function removeEverywhere(
  { backends, client, announce }: ManageOptions,
  { caller, request, body }: RouteInput,
  index: number | undefined,
) {
  const context = { principal: caller, signal: request.signal };
  await Promise.all(
    requireHolders(backends, nameOf(body), index).map(async ({ backend, upstreamId }) => {
      const sent = JSON.stringify({ model: upstreamId });
      const upstream = await client.open(backend, {
        path: "/api/delete",
        method: "DELETE",
        body: sent,
        context,
      });
      await readText(upstream.body, largestAnswer, request.signal);
      announce("deleted", { by: caller, backend, name: upstreamId });
      await backends.refresh(backend);
    }),
  );
  return true;
}

function nameOf({ model, name }: z.output<typeof Named>): string {
  return model ?? name ?? "";
}

function toOwnBody(body: z.output<typeof Named>, backend: Managed["backend"]): Record<string, unknown> {
  const { name: _name, model: _model, ...rest } = body;
  return { ...rest, model: toOwnName(nameOf(body), backend) };
}
