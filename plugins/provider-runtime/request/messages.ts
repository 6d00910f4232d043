import type { JsonObject } from "#config/json-values.ts";
import type { Message } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import type { ImageReference, ReadImages } from "./images.ts";

/** One message as the runtime takes it. */
export interface NativeMessage {
  role: string;
  content: string;
  images?: string[];
  thinking?: string;
  tool_calls?: NativeCall[];
  tool_name?: string;
  tool_call_id?: string;
}

interface NativeCall {
  id?: string;
  function: { name: string; arguments: unknown };
}

/**
 * Common messages as the runtime takes them: texts in one, images beside them in base64, arguments of tool calls as
 * objects, results with the name of their tool, thoughts apart from the visible text (contract D.20). Throws `invalid`
 * naming the field for what the runtime has no place for.
 */
export async function toNativeMessages(
  messages: readonly Message[],
  readImages: ReadImages,
): Promise<NativeMessage[]> {
  const toolNames = new Map<string, string>();
  const converted = messages.map((message, at) => convert(message, `messages.${at}`, toolNames));
  const read = [...(await readImages(converted.flatMap(({ images }) => images)))];
  return converted.map(({ native, images }) =>
    images.length === 0 ? native : { ...native, images: read.splice(0, images.length) },
  );
}

function convert(message: Message, field: string, toolNames: Map<string, string>) {
  const { text, images } = toContent(message.content, `${field}.content`);
  const native: NativeMessage = {
    role: message.role === "developer" ? "system" : message.role,
    content: text,
  };
  const thinking = message["reasoning_content"] ?? message["reasoning"];
  if (message.role === "assistant" && typeof thinking === "string" && thinking !== "") {
    native.thinking = thinking;
  }
  if (Array.isArray(message["tool_calls"]) && message["tool_calls"].length > 0) {
    native.tool_calls = message["tool_calls"].map((call) => toNativeCall(call, toolNames));
  }
  if (message.role === "tool") {
    const id = typeof message["tool_call_id"] === "string" ? message["tool_call_id"] : undefined;
    const name =
      message["tool_name"] ?? message["name"] ?? (id === undefined ? undefined : toolNames.get(id));
    Object.assign(
      native,
      typeof name === "string" && { tool_name: name },
      id !== undefined && { tool_call_id: id },
    );
  }
  return { native, images };
}

function toContent(content: Message["content"], field: string): { text: string; images: ImageReference[] } {
  if (!Array.isArray(content)) {
    return { text: content ?? "", images: [] };
  }
  const texts: string[] = [];
  const images: ImageReference[] = [];
  content.forEach((part, at) => {
    const place = `${field}.${at}`;
    const image = part["image_url"] as { url?: unknown } | string | undefined;
    const url = typeof image === "string" ? image : image?.url;
    if (typeof part["text"] === "string") {
      texts.push(part["text"]);
    } else if (part.type === "image_url" && typeof url === "string") {
      images.push({ url, field: `${place}.image_url` });
    } else {
      throw new AppError("invalid", `${place}: the runtime takes texts and images, not "${part.type}".`);
    }
  });
  return { text: texts.join("\n"), images };
}

function toNativeCall(call: unknown, toolNames: Map<string, string>): NativeCall {
  const { id, function: called } = (call ?? {}) as { id?: unknown; function?: JsonObject };
  const name = String(called?.["name"] ?? "");
  const isNamed = typeof id === "string" && id !== "";
  if (isNamed) {
    toolNames.set(id, name);
  }
  return { ...(isNamed && { id }), function: { name, arguments: toArguments(called?.["arguments"]) } };
}

/** The runtime takes nothing but objects; a history whose model wrote something else must not be stuck for ever. */
function toArguments(given: unknown): unknown {
  let value = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given);
    } catch {
      value = undefined;
    }
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
