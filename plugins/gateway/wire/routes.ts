import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defaultPatience, readText } from "#kernel/http/body.ts";
import { parseJson } from "#kernel/http/json.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { validate } from "#kernel/http/validate.ts";
import type { Keys } from "../keys/keys.ts";
import { answer, type AnswerParts } from "./answer.ts";
import { GatewayRequest } from "./request.ts";
import { toModelId, type Workspaces } from "../workspaces/workspaces.ts";

export interface WireParts extends AnswerParts {
  /** REQUEST_BODY_MAX_BYTES. */
  maxBody(): number;
  readonly keys: Keys;
  readonly workspaces: Workspaces;
}

const ModelList = z.object({
  object: z.literal("list"),
  data: z.array(
    z.object({
      id: z.string(),
      object: z.literal("model"),
      created: z.number().int(),
      owned_by: z.string(),
      name: z.string(),
    }),
  ),
});

/** The gateway's own surface (document 2, Gateway). */
export function wireRoutes(parts: WireParts) {
  const { keys, workspaces } = parts;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/v1/models",
        summary: "List the workspaces of the key's owner as models",
        access: "token",
        returns: ModelList,
      },
      async ({ request }) => {
        const owner = await keys.authenticate(request.headers.authorization);
        const own = await workspaces.list(owner);
        const data = own.map((workspace) => ({
          id: toModelId(workspace),
          object: "model" as const,
          created: workspace.created_at,
          owned_by: "millrace",
          name: workspace.name,
        }));
        return { object: "list" as const, data };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/v1/chat/completions",
        summary: "Have an agent work in a workspace; streams unless stream is false",
        access: "token",
        rawBody: true,
        fails: [400, 401, 404, 409, 502, 503],
      },
      async ({ request, raw }) => {
        // Before the body is looked at: a stranger learns nothing of its form.
        const owner = await keys.authenticate(request.headers.authorization);
        const body = await readRequest(raw, parts.maxBody());
        const workspace = await workspaces.byModel(owner, body.model);
        if (workspace === undefined) {
          throw new AppError("not_found", `The model ${body.model} does not exist.`);
        }
        return await answer({ owner, workspace, body, request }, parts);
      },
    ),
  ] as const;
}

async function readRequest(raw: Readable, maxBytes: number): Promise<GatewayRequest> {
  const text = await readText(raw as IncomingMessage, { maxBytes, ...defaultPatience });
  return validate(GatewayRequest, parseJson(text), "body") as GatewayRequest;
}
