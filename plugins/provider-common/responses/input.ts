import type { Message } from "#kernel/completion/request.ts";
import { fromDetails } from "./reasoning.ts";

type Item = Record<string, unknown>;

/** A conversation as the Responses format has it: system messages apart, tool calls as items of their own. */
export interface ResponsesInput {
  readonly instructions: string | undefined;
  readonly input: readonly Item[];
}

/** Turns the messages of a chat completion into instructions and input items. */
export function toInput(messages: readonly Message[]): ResponsesInput {
  const instructions = messages.filter(isInstruction).map(({ content }) => toText(content));
  return {
    instructions: instructions.length > 0 ? instructions.join("\n\n") : undefined,
    input: messages.filter((message) => !isInstruction(message)).flatMap(toItems),
  };
}

function isInstruction({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

function toItems(message: Message): Item[] {
  const { role, content } = message;
  if (role === "tool" || role === "function") {
    const output = Array.isArray(content) ? content.map(toInputPart) : (content ?? "");
    return [{ type: "function_call_output", call_id: message["tool_call_id"] ?? "", output }];
  }
  if (role !== "assistant") {
    const parts = Array.isArray(content) ? content.map(toInputPart) : (content ?? "");
    return [{ type: "message", role, content: parts }];
  }
  const text = toText(content);
  const refusal = message["refusal"];
  const said = [
    ...(text === "" ? [] : [{ type: "output_text", text, annotations: [] }]),
    ...(typeof refusal === "string" && refusal !== "" ? [{ type: "refusal", refusal }] : []),
  ];
  const calls = Array.isArray(message["tool_calls"]) ? (message["tool_calls"] as Item[]) : [];
  return [
    ...fromDetails(message["reasoning_details"]),
    ...(said.length > 0 ? [{ type: "message", role, content: said }] : []),
    ...calls.map((call) => {
      const called = (call["function"] ?? {}) as Item;
      return {
        type: "function_call",
        call_id: call["id"] ?? "",
        name: called["name"] ?? "",
        arguments: called["arguments"] ?? "{}",
      };
    }),
  ];
}

/** A part of a message; kinds that both formats call the same are left as they are. */
function toInputPart(part: Item): Item {
  switch (part["type"]) {
    case "text":
      return { type: "input_text", text: part["text"] };
    case "image_url": {
      const image = part["image_url"];
      const { url, detail } = (typeof image === "string" ? { url: image } : (image ?? {})) as Item;
      return { type: "input_image", image_url: url, detail: detail ?? "auto" };
    }
    case "file":
      return { type: "input_file", ...(part["file"] as Item | undefined) };
    default:
      return part;
  }
}

function toText(content: Message["content"]): string {
  if (!Array.isArray(content)) {
    return content ?? "";
  }
  return content
    .map((part) => part["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}
