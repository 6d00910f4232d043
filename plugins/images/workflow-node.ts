import { z } from "zod";

/** A field of a ComfyUI workflow that takes a part of the request. */
export const WorkflowNode = z.object({
  type: z.enum(["prompt", "negative_prompt", "model", "width", "height", "n", "steps", "seed", "image"]),
  node_ids: z.array(z.string()).min(1),
  /** Name of the node's input; the usual one of the type when left out. */
  key: z.string().optional(),
});
export type WorkflowNode = z.output<typeof WorkflowNode>;
