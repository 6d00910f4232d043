import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ReadImages } from "./images.ts";
import { type NativeMessage, toNativeMessages } from "./messages.ts";
import { toOptions } from "./options.ts";
import { toSettings } from "./settings.ts";

/** A chat request as the runtime takes it, but for the model, which each backend may know under another name. */
export interface NativeChat extends Record<string, unknown> {
  readonly messages: NativeMessage[];
  readonly stream: boolean;
}

/** The runtime's own chat request for a common one. Throws `invalid` for what cannot be said in it. */
export async function toNativeChat(request: CompletionRequest, readImages: ReadImages): Promise<NativeChat> {
  const options = toOptions(request);
  const tools = toTools(request);
  return {
    messages: await toNativeMessages(request.messages, readImages),
    stream: request.stream === true,
    ...toSettings(request),
    ...(tools.length > 0 && { tools }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** The runtime lets the model choose: of a tool_choice only what leaves tools out can be kept. */
function toTools({ tools, tool_choice: choice }: CompletionRequest): readonly unknown[] {
  if (!Array.isArray(tools) || choice === "none") {
    return [];
  }
  const only = (choice as { function?: { name?: unknown } } | null | undefined)?.function?.name;
  return typeof only === "string"
    ? tools.filter((tool) => (tool["function"] as { name?: unknown } | undefined)?.name === only)
    : tools;
}
