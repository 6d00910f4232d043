import type { Principal } from "#kernel/access/principal.ts";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import { defineService } from "#kernel/service.ts";

/** A model that the caller may use, resolved down to the provider's model that runs it. */
export interface ResolvedModel {
  /** The id the caller named. */
  readonly id: string;
  readonly name: string;
  /** The record's `meta` with DEFAULT_MODEL_METADATA filled in. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Saved parameters with DEFAULT_MODEL_PARAMS filled in. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly base: ProviderModel;
  readonly provider: ModelProvider;
}

/** A record that a plugin brings along for a model it provides. */
export interface ModelSeed {
  readonly id: string;
  readonly name: string;
  readonly meta: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

export interface Models {
  /** Resolves to the model. Throws `not_found` ("Model not found") for unknown and forbidden ids alike. */
  resolve(principal: Principal, id: string): Promise<ResolvedModel>;
  /** The wire items of the model list that the caller may see, in order. */
  list(principal: Principal, options?: { refresh?: boolean }): Promise<Record<string, unknown>[]>;
  /** Stores the record with read access for every account, once ever: a record an admin removed stays away. */
  seed(seed: ModelSeed): Promise<void>;
}

export const models = defineService<Models>("models");
