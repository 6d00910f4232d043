import { z } from "zod";
import { json, text } from "#config/variable.ts";

const JsonObject = z.record(z.string(), z.unknown());

export const modelVariables = {
  defaultModels: text("DEFAULT_MODELS", "", {
    key: "ui.default_models",
    persisted: true,
    text: "Comma-separated ids of the models a new chat starts with",
  }),
  pinnedModels: text("DEFAULT_PINNED_MODELS", "", {
    key: "ui.default_pinned_models",
    persisted: true,
    text: "Comma-separated ids pinned once for users who pinned none",
  }),
  order: json("MODEL_ORDER_LIST", [] as string[], {
    schema: z.array(z.string()),
    key: "ui.model_order_list",
    persisted: true,
    ignoreInvalid: true,
    text: "Model ids in the order of the list; the others follow by name",
  }),
  defaultMetadata: json("DEFAULT_MODEL_METADATA", {} as Record<string, unknown>, {
    schema: JsonObject,
    key: "models.default_metadata",
    persisted: true,
    ignoreInvalid: true,
    text: "Metadata of models that set none of their own; capabilities are merged",
  }),
  defaultParams: json("DEFAULT_MODEL_PARAMS", {} as Record<string, unknown>, {
    schema: JsonObject,
    key: "models.default_params",
    persisted: true,
    ignoreInvalid: true,
    text: "Parameters used where request and model set none; custom_params are merged by entry",
  }),
};
