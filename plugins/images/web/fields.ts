import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** A variable as this page names it. */
export interface FieldWords {
  readonly label: string;
  readonly hint?: string;
  readonly isLong?: boolean;
}

const address = (hint?: string): FieldWords => ({ label: t("Address"), ...(hint && { hint }) });
const key = (): FieldWords => ({ label: t("Key") });
const further = (): FieldWords => ({
  label: t("Further fields"),
  hint: t("A JSON object, sent with each request."),
});

/** Labels and hints of the fields of engines, by variable; others keep their names. */
export function wordsOf(name: string): FieldWords {
  const words: Readonly<Record<string, () => FieldWords>> = {
    IMAGES_OPENAI_API_BASE_URL: () =>
      address(t("Such as https://api.openai.com/v1, or that of a compatible server.")),
    IMAGES_OPENAI_API_KEY: key,
    IMAGES_OPENAI_API_VERSION: () => ({
      label: t("API version"),
      hint: t("Only for services that ask for one."),
    }),
    IMAGES_OPENAI_API_PARAMS: further,
    IMAGES_GEMINI_API_BASE_URL: () => address(),
    IMAGES_GEMINI_API_KEY: key,
    AUTOMATIC1111_BASE_URL: () => address(t("The server has to run with --api.")),
    AUTOMATIC1111_API_AUTH: () => ({
      label: t("User and password"),
      hint: t("As user:password, where the server asks for them."),
    }),
    AUTOMATIC1111_PARAMS: further,
    COMFYUI_BASE_URL: () => address(),
    COMFYUI_API_KEY: key,
    COMFYUI_WORKFLOW: () => ({
      label: t("Workflow"),
      hint: t("As ComfyUI exports it for its API."),
      isLong: true,
    }),
    COMFYUI_WORKFLOW_NODES: () => ({
      label: t("Nodes"),
      hint: t("Which nodes take the prompt and the rest: a JSON list of type, node_ids and key."),
      isLong: true,
    }),
  };
  return words[name]?.() ?? { label: name };
}

/** Settings of changing pictures alone; empty ones follow those of making them. */
export const editFields: Readonly<Record<string, readonly string[]>> = {
  openai: ["IMAGES_EDIT_OPENAI_API_BASE_URL", "IMAGES_EDIT_OPENAI_API_KEY"],
  gemini: ["IMAGES_EDIT_GEMINI_API_BASE_URL", "IMAGES_EDIT_GEMINI_API_KEY"],
  comfyui: [
    "IMAGES_EDIT_COMFYUI_BASE_URL",
    "IMAGES_EDIT_COMFYUI_API_KEY",
    "IMAGES_EDIT_COMFYUI_WORKFLOW",
    "IMAGES_EDIT_COMFYUI_WORKFLOW_NODES",
  ],
};

/** The words of a field for changing pictures. */
export function editWordsOf(name: string): FieldWords {
  if (name.endsWith("_URL")) {
    return address(t("Empty for that of making pictures, with its key."));
  }
  if (name.endsWith("_NODES")) {
    return wordsOf("COMFYUI_WORKFLOW_NODES");
  }
  return name.endsWith("_KEY") ? key() : wordsOf("COMFYUI_WORKFLOW");
}
