import type { Attachment } from "#plugins/web/kit/web.ts";

/** Typed for a chat and not sent. */
export interface Draft {
  readonly text: string;
  /** Stored files alone: an upload that was cut off cannot be taken up again. */
  readonly files: readonly Attachment[];
}

/** The draft of a chat; of one that has no id yet without one. */
export const draftKey = (id: string | undefined): string => `chat:${id ?? "new"}`;
