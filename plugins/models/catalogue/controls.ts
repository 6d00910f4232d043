import { z } from "zod";

const Word = z.string().trim().min(1).max(256);

const ControlOption = z.looseObject({
  id: Word,
  label: z.string().max(1000),
  /** Merged into the request when the option is picked. */
  params: z.record(z.string(), z.unknown()).nullish(),
  /** Appended to the system prompt when the option is picked. */
  system: z.string().nullish(),
});

const ModelControl = z
  .looseObject({
    id: Word,
    label: z.string().max(1000),
    default: z.string().nullish(),
    options: z.array(ControlOption).min(1).max(200),
  })
  .superRefine(({ default: chosen, options }, context) => {
    refuseRepeated(options, (at) => context.addIssue({ code: "custom", ...repeated(["options", at, "id"]) }));
    if (typeof chosen === "string" && !options.some(({ id }) => id === chosen)) {
      context.addIssue({ code: "custom", path: ["default"], message: "names no option of this control" });
    }
  });

/** `params.model_controls` of a record (Core API, model control; contract D.31). */
export const ModelControls = z
  .array(ModelControl)
  .max(100)
  .superRefine((controls, context) =>
    refuseRepeated(controls, (at) => context.addIssue({ code: "custom", ...repeated([at, "id"]) })),
  );

/** The controls as everybody may see them: what an option adds to prompt or request is the author's business. */
export function toPublicControls(controls: unknown): Record<string, unknown>[] {
  return toObjects(controls).map(({ id, label, default: chosen, options }) => ({
    id,
    label,
    ...(chosen === undefined ? {} : { default: chosen }),
    options: toObjects(options).map((option) => ({ id: option["id"], label: option["label"] })),
  }));
}

function toObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((entry): entry is Record<string, unknown> => typeof entry === "object" && entry !== null)
    : [];
}

function refuseRepeated(entries: readonly { id: string }[], refuse: (at: number) => void): void {
  const seen = new Set<string>();
  for (const [at, { id }] of entries.entries()) {
    if (seen.has(id)) {
      refuse(at);
    }
    seen.add(id);
  }
}

function repeated(path: (string | number)[]) {
  return { path, message: "comes twice" };
}
