import type { CallContext } from "#kernel/completion/provider.ts";
import type { SegmentedBody } from "#kernel/egress/segmented-body.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Target } from "../models/offers.ts";

/** A chat completion or embeddings call whose body is ready to be sent. */
export interface PreparedCall {
  readonly target: Target;
  /** The JSON body. */
  readonly body: string | Buffer | SegmentedBody;
  readonly isStream: boolean;
  readonly context: CallContext;
  /** Headers that go along where the connection sets none of its own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Ways to send one. */
export interface Posting {
  /** Posts to `path` below a model's connection and gives the answer as it is. */
  send(path: string, call: PreparedCall): Promise<Upstream>;
  /** Posts to `path` and gives the answer's bytes, with the public id in their `model` field where there is a prefix. */
  post(path: string, call: PreparedCall): Promise<Upstream>;
}
