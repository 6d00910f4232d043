import type { Principal } from "#kernel/access/principal.ts";
import type { EmbeddingsRequest } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Models } from "#plugins/models/service.ts";

export interface Embeddings {
  /** The provider's answer in the common format. Throws `not_found` for unknown models, `invalid` where the provider embeds nothing. */
  run(request: EmbeddingsRequest, context: { principal: Principal; signal: AbortSignal }): Promise<Upstream>;
}

/** Embeds through whichever provider offers the model, with the same access rules as chat. */
export function createEmbeddings(models: Models): Embeddings {
  return {
    async run(request, { principal, signal }) {
      const { provider, base } = await models.resolve(principal, request.model);
      if (provider.embed === undefined) {
        throw new AppError("invalid", `The model ${request.model} does not offer embeddings.`);
      }
      return provider.embed({ request: { ...request, model: base.id }, model: base, principal, signal });
    },
  };
}
