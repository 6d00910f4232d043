import { SignJWT } from "jose";
import type { Principal } from "#kernel/access/principal.ts";
import { toHeaderText } from "#kernel/upstream/header-text.ts";
import type { Terminal } from "../connections/schema.ts";

/** For whom and for what a terminal server is called. */
export interface Caller {
  readonly principal: Pick<Principal, "userId">;
  /** The saved chat, or the automation where the terminal keeps a place for each. */
  readonly sessionId: string | undefined;
  /** The reply whose tool calls it; undefined for a person at the panel. */
  readonly messageId?: string | undefined;
}

/** Seconds a signed identity is good for. */
const lifetime = 300;

/**
 * Headers that tell a terminal server who calls. The plain ids are the contract's (§5.3); a server that takes nothing on
 * trust reads `X-Service-Identity`, signed with the connection's key and bound to person, chat and reply (security case
 * S65).
 */
export async function toIdentityHeaders(
  terminal: Pick<Terminal, "id" | "key">,
  { principal, sessionId, messageId }: Caller,
): Promise<Record<string, string>> {
  const plain: Record<string, string> = { "x-user-id": toHeaderText(principal.userId) };
  if (sessionId !== undefined) {
    plain["x-session-id"] = toHeaderText(sessionId);
  }
  if (terminal.key === "") {
    return plain;
  }
  const token = await new SignJWT({
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(messageId !== undefined && { run_id: messageId }),
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer("millrace")
    .setSubject(principal.userId)
    .setAudience(terminal.id)
    .setIssuedAt()
    .setExpirationTime(`${lifetime}s`)
    .sign(new TextEncoder().encode(terminal.key));
  return { authorization: `Bearer ${terminal.key}`, ...plain, "x-service-identity": token };
}
