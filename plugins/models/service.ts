import type { Principal } from "#kernel/access/principal.ts";
import type { MaybePromise } from "#kernel/maybe-promise.ts";
import type { ModelProvider, ProviderModel } from "#kernel/completion/provider.ts";
import { defineService, defineSlot } from "#kernel/service.ts";

export { withOptions } from "./parameters/model-controls.ts";
export { fillSaved, toCustomValue } from "./parameters/saved-parameters.ts";
export {
  type FindProfile,
  withFilledPrompt,
  withInstructions,
  withSystemBlocks,
} from "./parameters/saved-prompt.ts";
export { fillTemplate, hasVariables, type TemplateFacts } from "./parameters/template.ts";

/** A model that the caller may use, resolved down to the provider's model that runs it. */
export interface ResolvedModel {
  /** The id the caller named. */
  readonly id: string;
  readonly name: string;
  /** The record's `meta` with DEFAULT_MODEL_METADATA filled in. */
  readonly meta: Readonly<Record<string, unknown>>;
  /**
   * Saved parameters with DEFAULT_MODEL_PARAMS filled in. `model_controls` is the list of controls as saved, with what
   * each option adds (`params`, `system`).
   */
  readonly params: Readonly<Record<string, unknown>>;
  readonly base: ProviderModel;
  readonly provider: ModelProvider;
  /** It belongs to a connection of the caller's own client: what is said in its chats goes to no other model. */
  readonly isDirect?: boolean;
  /** The member that an arena model chose for this request; left out for every other model. */
  readonly selectedModelId?: string;
}

/** A record that a plugin brings along for a model it provides. */
export interface ModelSeed {
  readonly id: string;
  readonly name: string;
  readonly meta: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

/** Ids of providers. */
export type ProviderIds = readonly string[];

export interface Models {
  /**
   * The model, at once when the lists are in memory. `among` are the providers whose models count, for a surface that
   * offers no others: of two models with one id it gets its own. Throws `not_found` ("Model not found") for unknown and
   * forbidden ids alike.
   */
  resolve(principal: Principal, id: string, among?: ProviderIds): MaybePromise<ResolvedModel>;
  /**
   * The model whoever asks; undefined when none is offered under this id. Only for ids that an administrator chose for
   * work of the platform itself, never for one that a caller named.
   */
  resolveAsInstance(id: string): Promise<ResolvedModel | undefined>;
  /** Whether an id is that of a provider's model, an arena or a record, usable by the caller or not. */
  isKnown(id: string): MaybePromise<boolean>;
  /** A model that the caller's client brings along: no record and no grant is about it, only the instance's defaults. */
  direct(model: ProviderModel, provider: ModelProvider): ResolvedModel;
  /** The wire items of the model list that the caller may see, in order. */
  list(
    principal: Principal,
    options?: { refresh?: boolean; among?: ProviderIds },
  ): Promise<Record<string, unknown>[]>;
  /** Stores the record with read access for every account, once ever: a record an admin removed stays away. */
  seed(seed: ModelSeed): Promise<void>;
}

export const models = defineService<Models>("models");

/** Something a person can press below an answer (contract 2.1). */
export interface ActionItem {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly icon: string | null;
}

/** A filter that people switch on themselves (contract 2.1). */
export interface FilterItem extends ActionItem {
  readonly has_user_valves: boolean;
}

/** Additions of other plugins to the items of the model list; nothing else depends on them. */
export interface ModelAddons {
  of(model: { readonly id: string; readonly meta: Readonly<Record<string, unknown>> }): {
    readonly actions: readonly ActionItem[];
    readonly filters: readonly FilterItem[];
  };
  /** Resolves when `of` may be asked; called once a list. */
  ready(): Promise<void>;
}

export const modelAddons = defineSlot<ModelAddons>("models.addons");

/** Says which rows that records name in `meta.knowledge` a caller may read. */
export interface ModelReferences {
  readonly id: string;
  /** Values of `type` in `meta.knowledge`, such as `collection`. Files are looked after already. */
  readonly types: readonly string[];
  /** Those of `ids` that the principal may read. */
  readable(principal: Principal, type: string, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/**
 * Filled by plugins whose rows a model may lend to those who use it. Ids of a type that nobody fills in are refused
 * to everybody but administrators.
 */
export const modelReferences = defineSlot<ModelReferences>("models.references");
