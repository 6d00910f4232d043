import { createHmac, randomBytes } from "node:crypto";
import { seconds } from "#storage/clock.ts";

const prefix = "whsec_";

/** Makes a signing secret in the form of the Standard Webhooks specification: `whsec_` and 32 random bytes in base64. */
export function createSigningSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

/**
 * Headers by which a receiver checks sender, age and content of a post (Standard Webhooks 1.0: HMAC-SHA256 over id,
 * epoch seconds and body). `id` stays the same for every try of one delivery, so that receivers can leave out repeats.
 */
export function signWebhook(
  body: string,
  { id, secret, at = seconds() }: { readonly id: string; readonly secret: string; readonly at?: number },
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${signature}` };
}
