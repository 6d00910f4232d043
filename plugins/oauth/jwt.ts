import { createRemoteJWKSet, customFetch, decodeJwt, type JWTPayload, jwtVerify } from "jose";
import type { Configuration, CustomFetch } from "openid-client";
import { AppError } from "#kernel/errors.ts";

const skewSeconds = 60;
/** Signatures by shared secrets, and none at all, are out: who knows the secret could sign anything. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>();
const maxKeySets = 20;

/** A token's claims, unverified: good for nothing but to choose who is asked. */
export function peek(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/** The claims of a token that this provider signed and that has not expired. Throws `unauthenticated`. */
export async function verifyProviderToken(
  token: string,
  peer: Configuration,
  { fetch, typ }: { readonly fetch: CustomFetch; readonly typ?: string },
): Promise<JWTPayload> {
  const { issuer, jwks_uri: keysUrl } = peer.serverMetadata();
  if (keysUrl === undefined) {
    throw new AppError("unauthenticated", "The provider publishes no keys to check its tokens with.");
  }
  try {
    const { payload, protectedHeader } = await jwtVerify(token, toKeySet(keysUrl, fetch), {
      algorithms,
      issuer,
      clockTolerance: skewSeconds,
    });
    if (typ !== undefined && protectedHeader.typ !== undefined && protectedHeader.typ.toLowerCase() !== typ) {
      throw new Error(`the token is of type ${protectedHeader.typ}`);
    }
    return payload;
  } catch (cause) {
    throw cause instanceof AppError
      ? cause
      : new AppError("unauthenticated", "The token is not one of this provider.", { cause });
  }
}

function toKeySet(url: string, fetch: CustomFetch) {
  const known = keySets.get(url);
  if (known !== undefined) {
    return known;
  }
  const made = createRemoteJWKSet(new URL(url), {
    [customFetch]: (address, { headers, method, signal }) =>
      fetch(address, {
        headers: Object.fromEntries(headers),
        method,
        redirect: "manual",
        signal,
        body: undefined,
      }),
  });
  if (keySets.size >= maxKeySets) {
    keySets.clear();
  }
  keySets.set(url, made);
  return made;
}
