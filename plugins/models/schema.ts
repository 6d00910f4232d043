import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { z } from "zod";
import { VoiceAvatar } from "./pictures/avatar.ts";
import { ModelControls } from "./catalogue/controls.ts";

// A NUL or half a character, escaped, behind an even number of backslashes; whole characters stand unescaped.
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;
const notStorable = "holds a NUL or half a character";

const Names = z.array(z.string()).nullish();
const Bag = z.record(z.string(), z.unknown());

/** `meta` of a model record (contract, appendix A9); keys that nobody here knows are kept. */
export const ModelMeta = z
  .looseObject({
    profile_image_url: z.string().nullish(),
    background_image_url: z.string().max(2048).nullish(),
    description: z.string().nullish(),
    // Core API names a list of the capabilities that are on, the ecosystem an object of booleans; both are taken.
    capabilities: z
      .union(
        [z.array(z.string()), z.record(z.string(), z.boolean().nullable())],
        "must be a list or booleans",
      )
      .nullish(),
    context_length: z.int().nullish(),
    max_output_tokens: z.int().nullish(),
    tags: z
      .array(
        z.union([z.looseObject({ name: z.string() }), z.string().transform((name) => ({ name }))]),
        "must be a list of tags",
      )
      .nullish(),
    knowledge: z.array(z.looseObject({ id: z.string().nullish(), type: z.string().nullish() })).nullish(),
    toolIds: Names,
    filterIds: Names,
    defaultFilterIds: Names,
    actionIds: Names,
    skillIds: Names,
    defaultFeatureIds: Names,
    builtinTools: z.record(z.string(), z.boolean().nullable()).nullish(),
    terminalId: z.string().nullish(),
    tts: Bag.nullish(),
    hidden: z.boolean().nullish(),
    voice_avatar: VoiceAvatar.nullish(),
  })
  .meta({ id: "ModelMeta" });

const numeric = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;
const toNumber = (value: unknown) =>
  typeof value === "string" && numeric.test(value) ? Number(value) : value;

/** Clients send what people typed into a field: text that is a number counts as one. */
const NumberParam = z.preprocess(toNumber, z.number().nullish());
const IntParam = z.preprocess(toNumber, z.int().nullish());

/** Options of the local runtime, nearly all of which are numbers. */
const Options = z.preprocess(
  (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, option]) => [name, name === "stop" ? option : toNumber(option)]),
        )
      : value,
  Bag.nullish(),
);

/** `params` of a model record (Core API, model record); keys that nobody here knows are kept. */
export const ModelParams = z
  .looseObject({
    system: z.string().nullish(),
    temperature: NumberParam,
    top_p: NumberParam,
    top_k: NumberParam,
    min_p: NumberParam,
    frequency_penalty: NumberParam,
    presence_penalty: NumberParam,
    max_tokens: IntParam,
    seed: IntParam,
    stop: z.union([z.string(), z.array(z.string())], "must be a text or a list of texts").nullish(),
    reasoning_effort: z.string().nullish(),
    response_format: Bag.nullish(),
    logit_bias: z.union([z.string(), Bag], "must be a text or an object").nullish(),
    function_calling: z
      .string()
      .nullish()
      .meta({ deprecated: true, description: "`legacy` has a task model choose tools; use native tools" }),
    stream_response: z.boolean().nullish(),
    custom_params: Bag.nullish(),
    options: Options,
    model_controls: ModelControls.nullish(),
  })
  .meta({ id: "ModelParams" });

const fields = {
  base_model_id: z.string().max(256).nullish(),
  name: z.string().trim().min(1).max(1000),
  model: z.string().max(1000).nullish(),
  meta: ModelMeta.optional(),
  params: ModelParams.optional(),
  access_grants: GrantInputs.nullish(),
  is_active: z.boolean().optional(),
};

/** How long it may be is checked by the rule that names 400 for it. */
const Id = z.string().min(1);

export const NewModel = storable(z.object({ id: Id, ...fields })).meta({ id: "NewModel" });

/** Fields that are left out keep their value. */
export const ModelChange = storable(z.object({ id: Id, ...fields, name: fields.name.optional() })).meta({
  id: "ModelChange",
});

export const AccessChange = storable(
  z.object({ id: Id, name: fields.name.optional(), access_grants: GrantInputs }),
);

/** A record as export writes it; its owner and times are the importer's business, whatever it says. */
export const PortableModel = z.object({
  id: Id,
  ...fields,
  name: fields.name.optional(),
  background_image_data: z.string().nullish(),
  /** How older exports say who may use a model. */
  access_control: z.unknown().optional(),
});

// Pictures are left out of the search: they are base64 or refused, and may be most of a hundred megabytes.
export const StorableModel = PortableModel.refine(
  ({ background_image_data: _picture, ...rest }) => isStorable(rest),
  notStorable,
);

export const PortableModels = z
  .object({ models: z.array(StorableModel).max(10_000) })
  .meta({ id: "PortableModels" });

const Grant = z.looseObject({
  id: z.number(),
  resource_type: z.string(),
  resource_id: z.string(),
  principal_type: z.string(),
  principal_id: z.string(),
  permission: z.string(),
  created_at: z.number().nullable(),
});

/** A model record; `params` and grants are shown in full to those who may change it. */
export const Model = z
  .object({
    id: z.string(),
    user_id: z.string(),
    base_model_id: z.string().nullable(),
    name: z.string(),
    model: z.string(),
    meta: z.record(z.string(), z.unknown()),
    params: z.record(z.string(), z.unknown()),
    access_grants: z.array(Grant).optional(),
    is_active: z.boolean(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "Model" });

export const ModelDetails = Model.extend({
  user: z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() }).nullable(),
  write_access: z.boolean(),
}).meta({ id: "ModelDetails" });

/** A text of a query; the database takes no NUL. */
export const QueryText = z
  .string()
  .max(512)
  .refine((text) => !text.includes("\0"), "must hold no NUL");

export const ListQuery = z.object({
  query: QueryText.optional(),
  view_option: z.enum(["created", "shared", ""]).optional(),
  tag: QueryText.optional(),
  order_by: z.enum(["name", "created_at", "updated_at"]).optional(),
  direction: z.enum(["asc", "desc"]).optional(),
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
});

/** The database keeps neither NUL nor half characters. */
function storable<S extends z.ZodType>(shape: S): S {
  return shape.refine(isStorable, notStorable);
}

function isStorable(value: unknown): boolean {
  return !unstorable.test(JSON.stringify(value));
}
