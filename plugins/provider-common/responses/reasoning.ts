type Bag = Readonly<Record<string, unknown>>;

/** One sealed thought, as it travels on the common wire in `reasoning_details` of a message. */
export interface SealedThought {
  readonly type: "reasoning.encrypted";
  readonly format: string;
  readonly id?: string;
  readonly data: string;
}

/** Marks thoughts that were sealed for this format: those of others would be refused. */
const format = "openai-responses-v1";

/** What an item of reasoning says that only its provider can read; it has to come back for the next round. */
export function toDetails({ type, id, encrypted_content: data }: Bag): SealedThought[] {
  return type === "reasoning" && typeof data === "string" && data !== ""
    ? [{ type: "reasoning.encrypted", format, ...(typeof id === "string" && { id }), data }]
    : [];
}

/** The sealed thoughts of a message as items of reasoning. */
export function fromDetails(details: unknown): Record<string, unknown>[] {
  const entries = Array.isArray(details) ? (details as (Partial<SealedThought> | null)[]) : [];
  return entries.flatMap((entry) =>
    entry?.format === format && entry.type === "reasoning.encrypted" && typeof entry.data === "string"
      ? [
          {
            type: "reasoning",
            ...(entry.id !== undefined && { id: entry.id }),
            summary: [],
            encrypted_content: entry.data,
          },
        ]
      : [],
  );
}
