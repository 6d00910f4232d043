import { randomUUID } from "node:crypto";

/** A fresh id of a message. */
export function toMessageId(): string {
  return `msg_${randomPart()}`;
}

/** A fresh id of a call, for upstreams that give none. */
export function toCallId(): string {
  return `toolu_${randomPart()}`;
}

function randomPart(): string {
  return randomUUID().replaceAll("-", "").slice(0, 24);
}
