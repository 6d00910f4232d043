import type { InputMessage, InputTool, TranslatedRequest } from "../schema.ts";

/** A tool with the place in the request where it stands. */
export interface OfferedTool {
  readonly tool: InputTool;
  readonly place: readonly (string | number)[];
}

/**
 * The tools that the model may call after this conversation. Those that are put off (`defer_loading`) join once a result
 * names them, and instructions midway add and withdraw others: a model of another upstream knows none of that.
 */
export function toOffered({ tools, messages }: Pick<TranslatedRequest, "tools" | "messages">): OfferedTool[] {
  const declared = (tools ?? []).map((tool, index) => ({ tool, place: ["body", "tools", index] }));
  const known = new Map<string, OfferedTool>(declared.map((each) => [each.tool.name, each]));
  const offered = new Set(declared.filter(({ tool }) => !tool.defer_loading).map(({ tool }) => tool.name));
  messages.forEach((message, index) => {
    for (const change of toChanges(message, ["body", "messages", index])) {
      if (change.isWithdrawn) {
        offered.delete(change.name);
      } else {
        offered.add(change.name);
      }
      if (change.defined) {
        known.set(change.name, change.defined);
      }
    }
  });
  return [...known.values()].filter(({ tool }) => offered.has(tool.name));
}

/** The names of all tools that the request declares, whether the model may call them now or not. */
export function toKnown({ tools, messages }: Pick<TranslatedRequest, "tools" | "messages">): Set<string> {
  const added = messages.flatMap((message) => toChanges(message, []).flatMap(({ defined }) => defined ?? []));
  return new Set([...(tools ?? []).map(({ name }) => name), ...added.map(({ tool }) => tool.name)]);
}

interface Change {
  readonly name: string;
  readonly isWithdrawn?: boolean;
  /** The tool itself, where it is declared only here. */
  readonly defined?: OfferedTool;
}

function toChanges(message: InputMessage, place: readonly (string | number)[]): Change[] {
  switch (message.role) {
    case "assistant":
      return [];
    case "user":
      return message.content
        .flatMap((block) => (block.type === "tool_result" ? block.content : []))
        .flatMap((block) => (block.type === "tool_reference" ? [{ name: block.tool_name }] : []));
    case "system":
      return message.content.flatMap((block, at): Change[] => {
        if (block.type === "text") {
          return [];
        }
        const { tool } = block;
        if (tool.type === "tool_reference") {
          return [{ name: tool.name, isWithdrawn: block.type === "tool_removal" }];
        }
        const defined = { tool: tool.definition, place: [...place, "content", at, "tool", "definition"] };
        return [{ name: tool.definition.name, defined }];
      });
  }
}
