import { z } from "zod";
import { checkAddress } from "#config/parse.ts";
import { bool, grouped, int, json, oneOf, text, type Values } from "#config/variable.ts";
import { WorkflowNode } from "./workflow-node.ts";

const made = (name: string) => ({ key: `image_generation.${name}`, persisted: true }) as const;
const edited = (name: string) => ({ key: `images.edit.${name}`, persisted: true }) as const;

/** Pixels of a side that are asked for at most. */
const longestSide = 4096;

/** The fault of a size such as 512x512, in words; empty and auto leave the size to the engine. */
export function findSizeProblem(value: string): string | undefined {
  const [, width = "", height = ""] = /^(\d{2,4})x(\d{2,4})$/.exec(value) ?? [];
  const isFine = [width, height].every((side) => Number(side) >= 64 && Number(side) <= longestSide);
  return value === "" || value === "auto" || isFine
    ? undefined
    : `must be such as 512x512, each side 64 to ${longestSide}, or auto`;
}

const workflow = (value: string) => {
  try {
    const parsed: unknown = JSON.parse(value === "" ? "{}" : value);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? undefined
      : "must be a JSON object";
  } catch {
    return "must be JSON, as ComfyUI exports it for its API";
  }
};

const bag = z.record(z.string(), z.unknown());

const generation = grouped("Images", {
  enabled: bool("ENABLE_IMAGE_GENERATION", false, {
    ...made("enable"),
    text: "Lets people and models make pictures",
  }),
  engine: text("IMAGE_GENERATION_ENGINE", "openai", {
    ...made("engine"),
    text: "The engine that makes pictures: openai, gemini, automatic1111, comfyui, or one that a plugin brings",
  }),
  model: text("IMAGE_GENERATION_MODEL", "", {
    ...made("model"),
    text: "The model of that engine; empty for the engine's own choice",
  }),
  size: text("IMAGE_SIZE", "512x512", {
    ...made("size"),
    check: findSizeProblem,
    text: "Width and height of pictures where nobody asks for others; auto or empty leaves it to the engine",
  }),
  steps: int("IMAGE_STEPS", 50, {
    ...made("steps"),
    min: 0,
    max: 150,
    text: "Steps of AUTOMATIC1111 and ComfyUI for one picture; 0 leaves it to the engine",
  }),
  promptWriting: bool("ENABLE_IMAGE_PROMPT_GENERATION", true, {
    ...made("prompt.enable"),
    text: "Lets a task model describe the picture for models that call no tools; off, the person's own words are used",
  }),
  maxCount: int("IMAGE_GENERATION_MAX_COUNT", 4, {
    ...made("max_count"),
    min: 1,
    max: 10,
    text: "Most pictures of one request",
  }),
  concurrent: int("IMAGE_GENERATION_CONCURRENT_REQUESTS", 4, {
    ...made("concurrent_requests"),
    min: 0,
    max: 1000,
    text: "Requests for pictures that engines get at once, on each replica, those of one person in turns with those of others; 0 is unlimited",
  }),
  timeout: int("IMAGE_GENERATION_TIMEOUT_SECONDS", 300, {
    ...made("timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that an engine has for the pictures of one request",
  }),
});

const engines = grouped("Image engines", {
  openaiUrl: text("IMAGES_OPENAI_API_BASE_URL", "https://api.openai.com/v1", {
    ...made("openai.api_base_url"),
    check: checkAddress,
    text: "Address of an API with /images/generations in the common format",
  }),
  openaiKey: text("IMAGES_OPENAI_API_KEY", "", {
    ...made("openai.api_key"),
    secret: true,
    text: "Key of that API",
  }),
  openaiVersion: text("IMAGES_OPENAI_API_VERSION", "", {
    ...made("openai.api_version"),
    text: "Sent as api-version, for services that ask for one",
  }),
  openaiParams: json(
    "IMAGES_OPENAI_API_PARAMS",
    {},
    {
      ...made("openai.params"),
      schema: bag,
      text: 'Further fields of each request to that API, such as {"quality": "high"}',
    },
  ),
  geminiUrl: text("IMAGES_GEMINI_API_BASE_URL", "https://generativelanguage.googleapis.com/v1beta", {
    ...made("gemini.api_base_url"),
    check: checkAddress,
    text: "Address of the Gemini API",
  }),
  geminiKey: text("IMAGES_GEMINI_API_KEY", "", {
    ...made("gemini.api_key"),
    secret: true,
    text: "Key of the Gemini API",
  }),
  geminiMethod: oneOf("IMAGES_GEMINI_ENDPOINT_METHOD", ["", "predict", "generateContent"], "", {
    ...made("gemini.endpoint_method"),
    text: "How Gemini is asked; empty chooses by the model's name",
  }),
  automaticUrl: text("AUTOMATIC1111_BASE_URL", "", {
    ...made("automatic1111.base_url"),
    check: checkAddress,
    text: "Address of the AUTOMATIC1111 server, started with --api",
  }),
  automaticAuth: text("AUTOMATIC1111_API_AUTH", "", {
    ...made("automatic1111.api_auth"),
    secret: true,
    text: "user:password of that server's API, where it asks for them",
  }),
  automaticParams: json(
    "AUTOMATIC1111_PARAMS",
    {},
    {
      ...made("automatic1111.params"),
      schema: bag,
      text: 'Further fields of each request to AUTOMATIC1111, such as {"sampler_name": "Euler"}',
    },
  ),
  comfyUrl: text("COMFYUI_BASE_URL", "", {
    ...made("comfyui.base_url"),
    check: checkAddress,
    text: "Address of the ComfyUI server",
  }),
  comfyKey: text("COMFYUI_API_KEY", "", {
    ...made("comfyui.api_key"),
    secret: true,
    text: "Key of the ComfyUI server, where a proxy asks for one",
  }),
  comfyWorkflow: text("COMFYUI_WORKFLOW", "", {
    ...made("comfyui.workflow"),
    check: workflow,
    text: "The workflow that makes a picture, as ComfyUI exports it for its API",
  }),
  comfyNodes: json("COMFYUI_WORKFLOW_NODES", [], {
    ...made("comfyui.nodes"),
    schema: z.array(WorkflowNode),
    text: "Which nodes of the workflow take prompt, model, width, height, n, steps and seed: [{type, node_ids, key}]",
  }),
});

const editing = grouped("Image editing", {
  editEnabled: bool("ENABLE_IMAGE_EDIT", false, {
    ...edited("enable"),
    text: "Lets people and models change pictures",
  }),
  editEngine: text("IMAGE_EDIT_ENGINE", "openai", {
    ...edited("engine"),
    text: "The engine that changes pictures",
  }),
  editModel: text("IMAGE_EDIT_MODEL", "", {
    ...edited("model"),
    text: "The model of that engine; empty for the engine's own choice",
  }),
  editSize: text("IMAGE_EDIT_SIZE", "", {
    ...edited("size"),
    check: findSizeProblem,
    text: "Width and height of changed pictures; empty leaves it to the engine",
  }),
  editOpenaiUrl: text("IMAGES_EDIT_OPENAI_API_BASE_URL", "", {
    ...edited("openai.api_base_url"),
    check: checkAddress,
    text: "Address for edits in the common format; empty for that of generation, with its key",
  }),
  editOpenaiKey: text("IMAGES_EDIT_OPENAI_API_KEY", "", {
    ...edited("openai.api_key"),
    secret: true,
    text: "Key of that address",
  }),
  editOpenaiVersion: text("IMAGES_EDIT_OPENAI_API_VERSION", "", {
    ...edited("openai.api_version"),
    text: "Sent as api-version to that address",
  }),
  editGeminiUrl: text("IMAGES_EDIT_GEMINI_API_BASE_URL", "", {
    ...edited("gemini.api_base_url"),
    check: checkAddress,
    text: "Address of the Gemini API for edits; empty for that of generation, with its key",
  }),
  editGeminiKey: text("IMAGES_EDIT_GEMINI_API_KEY", "", {
    ...edited("gemini.api_key"),
    secret: true,
    text: "Key of that address",
  }),
  editComfyUrl: text("IMAGES_EDIT_COMFYUI_BASE_URL", "", {
    ...edited("comfyui.base_url"),
    check: checkAddress,
    text: "Address of ComfyUI for edits; empty for that of generation, with its key",
  }),
  editComfyKey: text("IMAGES_EDIT_COMFYUI_API_KEY", "", {
    ...edited("comfyui.api_key"),
    secret: true,
    text: "Key of that address",
  }),
  editComfyWorkflow: text("IMAGES_EDIT_COMFYUI_WORKFLOW", "", {
    ...edited("comfyui.workflow"),
    check: workflow,
    text: "The workflow that changes a picture, as ComfyUI exports it for its API",
  }),
  editComfyNodes: json("IMAGES_EDIT_COMFYUI_WORKFLOW_NODES", [], {
    ...edited("comfyui.nodes"),
    schema: z.array(WorkflowNode),
    text: "Which nodes of that workflow take image and prompt: [{type, node_ids, key}]",
  }),
});

export const imageVariables = { ...generation, ...engines, ...editing };
export type ImageSettings = Values<typeof imageVariables>;
