import type { CallContext } from "#kernel/completion/provider.ts";
import type { EmbeddingsRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Models } from "#plugins/models/service.ts";
import type { UnlistedEmbedder } from "../service.ts";

export interface Embeddings {
  /** The provider's answer in the common format. Throws `not_found` for unknown models, `invalid` where the provider embeds nothing. */
  run(request: EmbeddingsRequest, context: CallContext): Promise<Upstream>;
}

export interface EmbeddingsOptions {
  readonly models: Models;
  unlisted(): readonly UnlistedEmbedder[];
}

/** Embeds through whichever provider offers the model, with the same access rules as chat. */
export function createEmbeddings({ models, unlisted }: EmbeddingsOptions): Embeddings {
  return {
    async run(request, context) {
      // What is on offer, if only to others, is asked nowhere else.
      const isKnown = await models.isKnown(request.model);
      for (const embedder of isKnown ? [] : unlisted()) {
        const embedding = embedder.embed(request, context);
        if (embedding !== undefined) {
          return embedding;
        }
      }
      const { provider, base } = await models.resolve(context.principal, request.model);
      if (provider.embed === undefined) {
        throw new AppError("invalid", `The model ${request.model} does not offer embeddings.`);
      }
      return provider.embed({ request: { ...request, model: base.id }, model: base, ...context });
    },
  };
}
