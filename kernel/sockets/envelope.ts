/** The payload of the event `events` (contract D.17); `instance_id` is added on the way out. */
export interface EventEnvelope {
  readonly chat_id: string | null;
  readonly message_id: string | null;
  /** Counts per message from 1; null for what belongs to no message or needs no order. */
  readonly seq: number | null;
  readonly data: { readonly type: string; readonly data?: unknown };
}

/** Builds an envelope; what is left out is null. */
export function toEnvelope(
  data: EventEnvelope["data"],
  place: { chatId?: string | undefined; messageId?: string | undefined; seq?: number | undefined } = {},
): EventEnvelope {
  return {
    chat_id: place.chatId ?? null,
    message_id: place.messageId ?? null,
    seq: place.seq ?? null,
    data,
  };
}
