import { z } from "zod";

/** Grants as callers give them; what may be stored of them is decided by who gives them (contract §0). */
export const GrantInputs = z
  .array(
    z.object({
      principal_type: z.enum(["user", "group", "anyone"]),
      principal_id: z.string().min(1).max(256),
      permission: z.enum(["read", "write"]),
    }),
  )
  .max(10_000);
