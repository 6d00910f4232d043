import { createHash } from "node:crypto";
import type { Claim, IdempotencyStore } from "#storage/idempotency-store.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toJson } from "./json.ts";
import { type LiveClaim, createLiveClaims, type LiveClaimsOptions } from "./live-claims.ts";
import { Relay, Reply, reply, Stream } from "./route.ts";

export interface KeyedRequest {
  readonly key: string;
  readonly caller: Principal | undefined;
  /** `METHOD path` of the route. */
  readonly route: string;
  /** What makes two requests the same: the query and the body's text, or what the upload held. Asked after handling. */
  fingerprint(): Promise<string> | string;
}

export interface Idempotency {
  run(request: KeyedRequest, handle: () => unknown): Promise<unknown>;
}

/** Longest streamed answer that is kept for a repeat; a longer one is not kept, and its key is free again. */
const maxStored = 4 * 1024 * 1024;

/**
 * Runs a request at most once for a key: the same body again gets the stored answer; another body, or a
 * repeat while the first still runs, gets `conflict`. A request that fails gives its key back. Contract D.5.
 */
export function createIdempotency(store: IdempotencyStore, options: ClaimOptions): Idempotency {
  const claims = createLiveClaims({ store, ...options });
  return {
    async run(request, handle) {
      if (request.key.length > 255) {
        throw new AppError("invalid", "The Idempotency-Key header is longer than 255 characters.");
      }
      const scope = hash(`${request.caller?.userId ?? ""}\n${request.route}\n${request.key}`);
      const claim = claims.isHeld(scope) ? running : await store.claim(scope);
      if (claim.state === "running") {
        throw new AppError(
          "conflict",
          "A request with this Idempotency-Key is still running. Send it again later.",
          { retryAfter: 1 },
        );
      }
      if (claim.state === "done") {
        return replay(claim, hash(await request.fingerprint()));
      }
      const own = claims.hold(claim.own);
      let answer: unknown;
      let fingerprint: string;
      try {
        answer = await handle();
        fingerprint = hash(await request.fingerprint());
      } catch (error) {
        await own.release();
        throw error;
      }
      return await keep(own, fingerprint, answer);
    },
  };
}

const running: Claim = { state: "running" };

type ClaimOptions = Omit<LiveClaimsOptions, "store">;

function replay(claim: Claim & { state: "done" }, fingerprint: string): Reply {
  if (claim.fingerprint !== fingerprint) {
    throw new AppError("conflict", "This Idempotency-Key was used for a request with another body.");
  }
  const { status, contentType, body } = claim.answer;
  return reply(Buffer.from(body), {
    status,
    headers: { "content-type": contentType, "idempotent-replayed": "true" },
  });
}

/** Stores the answer before it is written: a client that lost the connection must find it on its next try. */
async function keep(own: LiveClaim, fingerprint: string, answer: unknown): Promise<unknown> {
  if (answer instanceof Stream) {
    return new Stream(recordFrames(own, fingerprint, answer), {
      contentType: answer.contentType,
      headers: answer.headers,
    });
  }
  if (answer instanceof Relay) {
    return recordRelay(own, fingerprint, answer);
  }
  const { value, status, headers } =
    answer instanceof Reply ? answer : { value: answer, status: 200, headers: {} };
  const body = typeof value === "string" ? value : toJson(value ?? null);
  const contentType = String(
    headers["content-type"] ?? (typeof value === "string" ? "text/plain; charset=utf-8" : "application/json"),
  );
  await own.settle(fingerprint, { status, contentType, body });
  return answer;
}

async function* recordFrames(
  own: LiveClaim,
  fingerprint: string,
  answer: Stream,
): AsyncGenerator<string | Uint8Array> {
  const pieces: Buffer[] = [];
  let size = 0;
  let complete = false;
  try {
    for await (const frame of answer.frames) {
      const piece = Buffer.from(frame);
      size += piece.length;
      if (size <= maxStored) {
        pieces.push(piece);
      }
      yield frame;
    }
    complete = size <= maxStored;
  } finally {
    if (complete) {
      const body = Buffer.concat(pieces).toString("utf8");
      await own.settle(fingerprint, { status: 200, contentType: answer.contentType, body });
    } else {
      await own.release();
    }
  }
}

function recordRelay(own: LiveClaim, fingerprint: string, { upstream, options }: Relay): Relay {
  const pieces: Buffer[] = [];
  let size = 0;
  return new Relay(upstream, {
    ...options,
    tap(piece) {
      size += piece.length;
      if (size <= maxStored) {
        pieces.push(Buffer.from(piece));
      }
      options.tap?.(piece);
    },
    async end(error) {
      await options.end?.(error);
      const contentType = String(upstream.headers["content-type"] ?? "application/json");
      if (error || size > maxStored) {
        await own.release();
      } else {
        const body = Buffer.concat(pieces).toString("utf8");
        await own.settle(fingerprint, { status: upstream.status, contentType, body });
      }
    },
  });
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
