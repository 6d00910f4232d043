import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Documents } from "../live/documents.ts";
import { requireUpdate } from "../live/document.ts";
import type { NoteParts } from "../parts.ts";
import { EditForm, IdParams } from "../schema.ts";

/** A document of the most bytes, as base64. */
const maxBody = 3_000_000;

/** Edits of the live text that are larger than a frame of the socket, such as a long paste. */
export function editRoutes({ heads }: Pick<NoteParts, "heads">, documents: Documents) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/notes/:id/edits",
        summary: "Write a large edit into the document of a note",
        access: "permission:features.notes",
        params: IdParams,
        body: EditForm,
        maxBody,
        returns: z.boolean(),
        fails: [403, 404],
      },
      async ({ caller, params, body }) => {
        await heads.load(caller, params.id, "write");
        const bytes = requireUpdate(new Uint8Array(Buffer.from(body.update, "base64")));
        await documents.append(params.id, { userId: caller.userId, bytes });
        return true;
      },
    ),
  ];
}
