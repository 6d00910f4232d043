import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Pipelines } from "./pipelines.ts";

const UrlIdx = z.coerce.number().int().min(0);
const Server = z.object({ urlIdx: UrlIdx.optional() });
const Id = z.object({ id: z.string().min(1).max(200) });
const fails = [400, 404, 502, 504];

/** Code of a pipeline; no honest one is larger. */
const maxBytes = 10 * 1024 * 1024;

/** Remote pipelines for administrators (contract §4.4); answers are the server's own. */
export function pipelineRoutes(pipelines: Pipelines) {
  return [...listRoutes(pipelines), ...changeRoutes(pipelines), ...valvesRoutes(pipelines)];
}

function listRoutes(pipelines: Pipelines) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/pipelines/list",
        summary: "List the connections that run pipelines",
        access: "admin",
        returns: z.object({ data: z.array(z.object({ url: z.string(), idx: z.int() })) }),
      },
      async () => ({ data: await pipelines.hosts() }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/pipelines/",
        summary: "List a server's pipelines",
        access: "admin",
        query: Server,
        fails,
      },
      ({ caller, request, query }) => pipelines.list({ caller, signal: request.signal, ...query }),
    ),
  ] as const;
}

function changeRoutes(pipelines: Pipelines) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/pipelines/upload",
        summary: "Upload a pipeline to a server",
        access: "admin",
        upload: true,
        fails,
      },
      async ({ caller, request, upload }) => {
        const { result, fields } = await upload.receive(
          "file",
          { maxBytes },
          async ({ filename, stream }) => ({
            filename,
            bytes: await buffer(stream),
          }),
        );
        const { data, success } = Server.safeParse({ urlIdx: fields["urlIdx"] });
        if (!success) {
          throw new AppError("invalid", "The form field urlIdx is no index of a connection.");
        }
        return pipelines.upload({ caller, signal: request.signal, ...data }, result);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/pipelines/add",
        summary: "Let a server fetch a pipeline",
        access: "admin",
        body: z.object({ url: z.url({ protocol: /^https?$/ }).max(4096), urlIdx: UrlIdx }),
        fails,
      },
      ({ caller, request, body: { url, urlIdx } }) =>
        pipelines.add({ caller, signal: request.signal, urlIdx }, url),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/pipelines/delete",
        summary: "Delete a pipeline from a server",
        access: "admin",
        body: z.object({ id: z.string().min(1).max(200), urlIdx: UrlIdx }),
        fails,
      },
      ({ caller, request, body: { id, urlIdx } }) =>
        pipelines.remove({ caller, signal: request.signal, urlIdx }, id),
    ),
  ] as const;
}

function valvesRoutes(pipelines: Pipelines) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/pipelines/:id/valves",
        summary: "Read a pipeline's valves",
        access: "admin",
        params: Id,
        query: Server,
        fails,
      },
      ({ caller, request, params, query }) =>
        pipelines.valves({ caller, signal: request.signal, ...query }, params.id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/pipelines/:id/valves/spec",
        summary: "Read the schema of a pipeline's valves",
        access: "admin",
        params: Id,
        query: Server,
        fails,
      },
      ({ caller, request, params, query }) =>
        pipelines.valvesSpec({ caller, signal: request.signal, ...query }, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/pipelines/:id/valves/update",
        summary: "Change a pipeline's valves",
        access: "admin",
        params: Id,
        query: Server,
        body: z.record(z.string(), z.unknown()),
        fails,
      },
      ({ caller, request, params, query, body }) =>
        pipelines.updateValves({ caller, signal: request.signal, ...query }, params.id, body),
    ),
  ] as const;
}
