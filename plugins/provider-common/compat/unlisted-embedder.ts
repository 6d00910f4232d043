import { beginCall, type CallEnded, measured } from "#kernel/upstream/metered.ts";
import { withModel } from "#kernel/upstream/model-key.ts";
import type { UnlistedEmbedder } from "#plugins/completions/service.ts";
import { toUnlistedSubject } from "./routes.ts";
import type { Connections } from "../connections/connections.ts";
import type { CommonProvider } from "../completions/provider.ts";

export interface UnlistedEmbedderOptions {
  readonly provider: CommonProvider;
  readonly connections: Connections;
  /** Told of every call, for these reach the provider without the catalogue. */
  ended: CallEnded;
}

/** Embeds with models of the vendor's own host. */
export function createUnlistedEmbedder(options: UnlistedEmbedderOptions): UnlistedEmbedder {
  const { provider, connections, ended } = options;
  return {
    embed(request, context) {
      const target = connections.unlisted(request.model, context.principal);
      if (target === undefined) {
        return undefined;
      }
      const body = JSON.stringify(withModel(request, target.upstreamId));
      const call = beginCall({ ...toUnlistedSubject(target, request), wire: "embeddings" }, context, ended);
      const asking = provider.postEmbeddings(
        { target, body, isStream: false, context },
        request.encoding_format,
      );
      return measured(call, asking);
    },
  };
}
