import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";

export type AuthMethod = "password" | "ldap" | "oauth" | "trusted_header" | "system";

/** Claims of a session token (contract 1.1). Times are epoch seconds. */
export interface SessionClaims {
  /** The account. */
  readonly id: string;
  readonly jti: string;
  readonly iat: number;
  /** Missing when the token never expires. */
  readonly exp?: number | undefined;
  /** `view` for an administrator who looks with the account's eyes. */
  readonly typ: "session" | "view";
  /** The administrator of a `view`. */
  readonly viewer?: SessionViewer | undefined;
  readonly auth_method: AuthMethod;
  readonly auth_time: number;
  /** Must equal the account's present stamp. */
  readonly session_stamp: string;
  /** True when a second factor was given, too. */
  readonly mfa_verified: boolean;
}

/** The administrator behind a session that views another account; the stamp must equal theirs of the moment. */
export interface SessionViewer {
  readonly id: string;
  readonly stamp: string;
}

export interface SessionStart {
  readonly userId: string;
  readonly stamp: string;
  readonly method: AuthMethod;
  /** With a second factor, too; false when left out. */
  readonly isVerified?: boolean;
  /** When the person last proved who they are; now when left out. */
  readonly authTime?: number;
  /** Makes a session that views the account, for `viewSeconds`. */
  readonly viewer?: SessionViewer;
}

export interface SignedSession {
  readonly token: string;
  readonly jti: string;
  /** Epoch seconds; null = never. */
  readonly expiresAt: number | null;
}

export interface SessionTokens {
  sign(start: SessionStart): Promise<SignedSession>;
  /** Resolves to the claims of a token that is genuine and not expired. Throws `unauthenticated`. */
  verify(token: string): Promise<SessionClaims>;
}

export interface SessionOptions {
  readonly secret: string;
  /** Lifetime of new tokens in seconds, read at each sign-in; null = never. */
  lifetime(): number | null;
}

const algorithm = "HS256";
/** The longest look with another person's eyes. */
const viewSeconds = 30 * 60;
const Claims = z.object({
  id: z.string().min(1),
  jti: z.string().min(1),
  iat: z.number(),
  exp: z.number().optional(),
  typ: z.enum(["session", "view"]),
  auth_method: z.enum(["password", "ldap", "oauth", "trusted_header", "system"]),
  auth_time: z.number(),
  session_stamp: z.string().min(1),
  // Tokens of earlier versions do not name it.
  mfa_verified: z.boolean().default(false),
  viewer: z.object({ id: z.string().min(1), stamp: z.string().min(1) }).optional(),
});

/** Signs and checks session tokens: HS256 with the deployment's secret and nothing else. */
export function createSessionTokens({ secret, lifetime }: SessionOptions): SessionTokens {
  const key = new TextEncoder().encode(secret);
  return {
    async sign({ userId, stamp, method, authTime, viewer, isVerified = false }) {
      const now = Math.floor(Date.now() / 1000);
      const seconds = viewer === undefined ? lifetime() : viewSeconds;
      const expiresAt = seconds === null ? null : now + seconds;
      const jti = crypto.randomUUID();
      const claims = {
        id: userId,
        typ: viewer === undefined ? "session" : "view",
        ...(viewer && { viewer }),
        auth_method: method,
        auth_time: authTime ?? now,
        session_stamp: stamp,
        mfa_verified: isVerified,
      };
      const unsigned = new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ: "JWT" })
        .setJti(jti)
        .setIssuedAt(now);
      const token = await (expiresAt === null ? unsigned : unsigned.setExpirationTime(expiresAt)).sign(key);
      return { token, jti, expiresAt };
    },
    async verify(token) {
      try {
        const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: [algorithm] });
        if (protectedHeader.kid !== undefined) {
          throw new Error("the token names a key, but there is only one");
        }
        const claims = Claims.parse(payload);
        if ((claims.typ === "view") !== (claims.viewer !== undefined)) {
          throw new Error("a view has a viewer, and nothing else has one");
        }
        return claims;
      } catch (error) {
        throw unauthenticated(error);
      }
    },
  };
}

/** The one answer to every bad credential: it does not tell what was wrong with it. */
export function unauthenticated(cause?: unknown): AppError {
  return new AppError("unauthenticated", "The session or key is not valid. Sign in again.", { cause });
}
