import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { defaultIcon } from "../pictures/default-icon.ts";
import type { ModelParts } from "../parts.ts";
import { findShownPicture } from "../pictures/picture.ts";
import { QueryText } from "../schema.ts";

/** The icon of a model. A model that the caller may not see has the icon of one that does not exist. */
export function pictureRoute(parts: ModelParts) {
  return defineRoute(
    {
      method: "GET",
      path: "/models/model/profile/image",
      summary: "Get the picture of a model",
      access: "user",
      query: z.object({ id: QueryText }),
      produces: "image/*",
      fails: [302, 304],
    },
    async ({ caller, query, request }) => {
      const picture = await findShownPicture(parts, caller, query.id);
      const { "if-none-match": known, "sec-fetch-dest": fetchDest } = request.headers;
      return parts.accounts.pictures.answer(picture, {
        known,
        fetchDest: fetchDest?.toString(),
        fallback: defaultIcon,
      });
    },
  );
}
