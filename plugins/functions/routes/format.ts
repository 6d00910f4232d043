import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { formatCode } from "../format/format-code.ts";

/** `POST /api/v1/utils/code/format` (contract 10). */
export const formatRoute = defineRoute(
  {
    method: "POST",
    path: "/utils/code/format",
    summary: "Lay the code of a function or tool out anew; it does not run",
    access: "admin",
    body: z.object({ code: z.string().max(1_000_000) }),
    returns: z.object({ code: z.string() }),
    fails: [400],
  },
  async ({ body: { code } }) => ({ code: await formatCode(code) }),
);
