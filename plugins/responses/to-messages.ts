import type { Message } from "#kernel/completion/request.ts";
import { AppError } from "#kernel/errors.ts";
import { toFlatName } from "./caller-tools.ts";
import type { Item, Part, TranslatedRequest } from "./schema.ts";

type Content = NonNullable<Message["content"]>;

/** The conversation of a request as messages of a chat completion. Throws `invalid`, naming the item, for what has no place there. */
export function toMessages({ instructions, input }: TranslatedRequest): Message[] {
  const messages: Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  if (typeof input === "string") {
    return [...messages, { role: "user", content: input }];
  }
  for (const [at, item] of input.entries()) {
    add(messages, item, `input[${at}]`);
  }
  return messages;
}

function add(messages: Message[], item: Item, at: string): void {
  switch (item.type ?? "message") {
    case "message":
      messages.push(toMessage(item, at));
      break;
    case "function_call":
      addCall(messages, item, at);
      break;
    case "custom_tool_call":
      addCall(messages, { ...item, arguments: JSON.stringify({ input: item["input"] ?? "" }) }, at);
      break;
    case "function_call_output":
    case "custom_tool_call_output":
      messages.push(...toResult(item, at));
      break;
    case "additional_tools":
      // `toCallerTools` offers them with the others.
      break;
    case "reasoning":
      // Reasoning does not go upstream again as text. Contract D.20.
      break;
    default:
      throw new AppError("invalid", `${at}.type: "${item.type}" is not supported.`);
  }
}

function toMessage({ role, content }: Item, at: string): Message {
  if (role === undefined || !["user", "assistant", "system", "developer"].includes(role)) {
    throw new AppError("invalid", `${at}.role: must be user, assistant, system or developer.`);
  }
  if (content === undefined || content === null) {
    throw new AppError("invalid", `${at}.content: is missing.`);
  }
  const said = toContent(content, `${at}.content`);
  // Most upstreams of the common format do not know the role `developer`.
  return {
    role: role === "developer" ? "system" : role,
    content: role === "assistant" ? toText(said) : said,
  };
}

/** Adds a call to the assistant's turn: calls in a row and the text before them are one turn. */
function addCall(messages: Message[], item: Item, at: string): void {
  const { call_id: id, name, arguments: given } = item;
  if (typeof id !== "string" || typeof name !== "string") {
    throw new AppError("invalid", `${at}: a call needs call_id and name.`);
  }
  const call = {
    id,
    type: "function",
    function: {
      name: toFlatName(name, item["namespace"]),
      arguments: typeof given === "string" ? given : "{}",
    },
  };
  const last = messages.at(-1);
  if (last?.role === "assistant") {
    messages[messages.length - 1] = {
      ...last,
      tool_calls: [...((last["tool_calls"] as unknown[]) ?? []), call],
    };
  } else {
    messages.push({ role: "assistant", content: null, tool_calls: [call] });
  }
}

/** Images of a result follow it as a message of their own: the common format has no room for them in tool messages. */
function toResult(item: Item, at: string): Message[] {
  const { call_id: id, output } = item;
  if (typeof id !== "string") {
    throw new AppError("invalid", `${at}.call_id: is missing.`);
  }
  if (!Array.isArray(output)) {
    const content = typeof output === "string" ? output : JSON.stringify(output ?? "");
    return [{ role: "tool", tool_call_id: id, content }];
  }
  const parts = toContent(output, `${at}.output`);
  const others = Array.isArray(parts) ? parts.filter(({ type }) => type !== "text") : [];
  return [
    { role: "tool", tool_call_id: id, content: toText(parts) },
    ...(others.length > 0 ? [{ role: "user", content: others }] : []),
  ];
}

function toContent(content: string | unknown[], at: string): Content {
  if (typeof content === "string") {
    return content;
  }
  const parts = content.map((part, n) => toPart(requirePart(part, `${at}[${n}]`), `${at}[${n}]`));
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? String(only["text"]) : parts;
}

function requirePart(part: unknown, at: string): Part {
  if (typeof part !== "object" || part === null) {
    throw new AppError("invalid", `${at}: must be an object with a type.`);
  }
  return part as Part;
}

function toPart(part: Part, at: string): Part {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text: String(part["text"] ?? "") };
    case "refusal":
      return { type: "text", text: String(part["refusal"] ?? "") };
    case "input_image":
      return toImage(part, at);
    case "input_file":
      return toFile(part, at);
    case "input_audio":
      return part;
    default:
      throw new AppError("invalid", `${at}.type: "${part.type}" is not supported.`);
  }
}

function toImage({ image_url: url, detail }: Part, at: string): Part {
  if (typeof url !== "string") {
    throw new AppError("invalid", `${at}.image_url: must be an address or a data URI.`);
  }
  return { type: "image_url", image_url: { url, ...(typeof detail === "string" && { detail }) } };
}

function toFile({ type: _type, ...file }: Part, at: string): Part {
  if (typeof file["file_data"] !== "string") {
    throw new AppError("invalid", `${at}.file_data: files have to be sent along.`);
  }
  return { type: "file", file };
}

function toText(content: Content): string {
  return typeof content === "string"
    ? content
    : content
        .filter(({ type }) => type === "text")
        .map((part) => String(part["text"]))
        .join("\n");
}
