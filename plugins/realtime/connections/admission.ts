import type { IncomingMessage } from "node:http";
import type { Authenticator, RequestFacts } from "#kernel/access/authenticator.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { AppError, type ErrorCode } from "#kernel/errors.ts";
import { type Credential, findCredential } from "#kernel/http/credential.ts";
import type { ClientAddress } from "#kernel/http/forwarded.ts";
import { type Closing, closing } from "#kernel/sockets/closing.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { siteOf } from "#kernel/sockets/site.ts";
import type { Members } from "./members.ts";
import type { Session } from "./session.ts";

export interface AdmissionParts {
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  readonly members: Members;
  /** CORS_ALLOW_ORIGIN. */
  origins(): readonly string[];
}

/** The facts and credential of an upgrade request. */
export interface Handshake {
  readonly facts: RequestFacts;
  readonly credential: Credential | undefined;
  readonly principal: Principal | undefined;
}

/** Authenticates connections: at the upgrade request, and by tokens that come later. */
export interface Admission {
  /** Throws `forbidden` for a page of a site that may not call, and `unauthenticated` for a bad header. */
  accept(req: IncomingMessage): Promise<Handshake>;
  /** Binds a session to a principal and joins the user's room. Returns the reason of a refusal. */
  bindPrincipal(
    session: Session,
    handshake: Pick<Handshake, "credential" | "principal">,
  ): Closing | undefined;
  /** Authenticates a token and binds its principal. Throws `unauthenticated` or `forbidden`. */
  signIn(session: Session, token: string): Promise<void>;
}

const mostPerUser = 200;
const codes = new Map<Closing, ErrorCode>([
  [closing.unauthenticated, "unauthenticated"],
  [closing.crowded, "rate_limited"],
]);

export function createAdmission(parts: AdmissionParts): Admission {
  const { authenticator, clientAddress, members, origins } = parts;

  function bindPrincipal(
    session: Session,
    { credential, principal }: Pick<Handshake, "credential" | "principal">,
  ): Closing | undefined {
    if (principal === undefined || (session.principal && session.principal.userId !== principal.userId)) {
      return closing.unauthenticated;
    }
    if (!isMember(principal) || principal.viewer !== undefined) {
      return closing.forbidden;
    }
    if (session.principal === undefined && members.ofUser(principal.userId).length >= mostPerUser) {
      return closing.crowded;
    }
    session.principal = principal;
    session.credential = credential;
    session.verifiedAt = Date.now();
    members.enter(session, toRoom("user", principal.userId));
    return undefined;
  }

  return {
    async accept(req) {
      const client = clientAddress(req.socket.remoteAddress ?? "", req.headers);
      const path = (req.url ?? "/").split("?", 1)[0]?.replace(/(?<=.)\/$/, "") ?? "/";
      const proxied = client.isProxied ? req.headers : undefined;
      const facts = { method: "GET", path, address: client.address, proxied };
      const site = siteOf(req, client, origins());
      if (site === "refused") {
        throw new AppError("forbidden", "Connections from this site are not accepted.");
      }
      const credential = findCredential(req.headers, { keyHeader: authenticator.keyHeader() });
      if (credential?.source === "cookie" && site !== "trusted") {
        return { facts, credential: undefined, principal: undefined };
      }
      const principal = await authenticate(authenticator, credential, facts);
      return { facts, credential: principal && credential, principal };
    },
    bindPrincipal,
    async signIn(session, token) {
      const credential: Credential = { value: token, source: "bearer" };
      const principal = await authenticator.authenticate(credential, session.facts);
      const refused = bindPrincipal(session, { credential, principal });
      if (refused !== undefined) {
        throw new AppError(codes.get(refused) ?? "forbidden", refused.reason);
      }
    },
  };
}

/** A stale cookie is ignored, because a token may still follow. A bad header is refused. */
async function authenticate(
  authenticator: Authenticator,
  credential: Credential | undefined,
  facts: RequestFacts,
): Promise<Principal | undefined> {
  if (credential === undefined) {
    return undefined;
  }
  try {
    return await authenticator.authenticate(credential, facts);
  } catch (error) {
    const isRefusal = error instanceof AppError && /^(unauthenticated|forbidden)$/.test(error.code);
    if (isRefusal && credential.source === "cookie") {
      return undefined;
    }
    throw error;
  }
}
