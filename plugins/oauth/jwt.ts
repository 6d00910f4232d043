import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
} from "jose";
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
const maxKeySets = 20;
/** A token can name any key: an unknown one is looked for once, and all of them only so often. */
const askedAgainMs = 60_000;
const mostAsked = 6;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The keys of a provider, and which unknown ones were looked for lately. */
interface KeySet {
  readonly keys: RemoteKeys;
  readonly sought: Map<string, number>;
}

const keySets = new Map<string, KeySet>();

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
    const verify = (keys: RemoteKeys) =>
      jwtVerify(token, keys, { algorithms, issuer, clockTolerance: skewSeconds });
    const keySet = toKeySet(keysUrl, fetch);
    const { payload, protectedHeader } = await verify(keySet.keys).catch(async (error: unknown) => {
      if (
        !(error instanceof errors.JWKSNoMatchingKey) ||
        !mayAskFor(decodeProtectedHeader(token).kid, keySet)
      ) {
        throw error;
      }
      // Providers sign with a new key as soon as they publish it.
      await keySet.keys.reload();
      return await verify(keySet.keys);
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

function mayAskFor(kid: string | undefined, { sought }: KeySet): boolean {
  const now = Date.now();
  for (const [known, at] of sought) {
    if (at + askedAgainMs <= now) {
      sought.delete(known);
    }
  }
  const id = String(kid);
  if (sought.has(id) || sought.size >= mostAsked) {
    return false;
  }
  sought.set(id, now);
  return true;
}

function toKeySet(url: string, fetch: CustomFetch): KeySet {
  const known = keySets.get(url);
  if (known !== undefined) {
    return known;
  }
  const keys = createRemoteJWKSet(new URL(url), {
    // An unknown key is asked for by `verifyProviderToken` alone.
    cooldownDuration: Number.POSITIVE_INFINITY,
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
  const made = { keys, sought: new Map<string, number>() };
  keySets.set(url, made);
  return made;
}
