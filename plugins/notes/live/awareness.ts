import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { isObject } from "#config/json-values.ts";
import { AppError } from "#kernel/errors.ts";

/** Bytes of one awareness update: a cursor, a name and a colour. */
export const maxAwareness = 4_000;
/** Clients that one update may speak about. */
const mostClients = 8;

/** The person an awareness update comes from. */
export interface AwarenessAuthor {
  readonly id: string;
  readonly name: string;
}

/**
 * Reads an awareness update of a client and writes it anew: it says who it comes from as the server knows it, not as
 * the client does. Throws `invalid` for what is none.
 */
export function signAwareness(
  bytes: Uint8Array,
  author: AwarenessAuthor,
): { readonly bytes: Uint8Array; readonly clientIds: readonly number[] } {
  const clientIds: number[] = [];
  const encoder = encoding.createEncoder();
  try {
    const decoder = decoding.createDecoder(bytes);
    const count = decoding.readVarUint(decoder);
    if (count > mostClients) {
      throw new Error("too many");
    }
    encoding.writeVarUint(encoder, count);
    for (let at = 0; at < count; at += 1) {
      const clientId = decoding.readVarUint(decoder);
      clientIds.push(clientId);
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, decoding.readVarUint(decoder));
      encoding.writeVarString(
        encoder,
        JSON.stringify(sign(JSON.parse(decoding.readVarString(decoder)), author)),
      );
    }
  } catch {
    throw new AppError("invalid", "update: these bytes are no awareness update.");
  }
  return { bytes: encoding.toUint8Array(encoder), clientIds };
}

/** Null says that the client has left. */
function sign(state: unknown, { id, name }: AwarenessAuthor): unknown {
  if (!isObject(state)) {
    return null;
  }
  const color = isObject(state["user"]) ? state["user"]["color"] : undefined;
  const kept = typeof color === "string" && color.length <= 30 ? { color } : {};
  return { ...state, user: { id, name, ...kept } };
}

/** Counts what one session sends within a second. */
export class RateLimit {
  readonly #most: number;
  #second = 0;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws `rate_limited` beyond what a second takes. */
  require(): void {
    const now = Math.floor(Date.now() / 1000);
    this.#count = now === this.#second ? this.#count + 1 : 1;
    this.#second = now;
    if (this.#count > this.#most) {
      throw new AppError("rate_limited", "Too many updates. Wait a second.", { retryAfter: 1 });
    }
  }
}
