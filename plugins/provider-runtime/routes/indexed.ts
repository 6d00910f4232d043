import { z } from "zod";

/** Path parameters of routes that target one backend. */
export const Index = z.object({ idx: z.coerce.number().int().min(0) });
