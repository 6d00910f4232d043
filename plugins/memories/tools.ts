import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { Chats } from "#plugins/chats/service.ts";
import { z } from "zod";
import { holdsForeignContent } from "./foreign-content.ts";
import type { Cause } from "./apply.ts";
import type { Memories } from "./memories.ts";
import {
  limits,
  type Memory,
  MemoryPath,
  MemorySearch,
  MemoryType,
  Operation,
  Operations,
} from "./schema.ts";

export interface ToolParts {
  readonly memories: Memories;
  readonly chats: Pick<Chats, "branch">;
}

/** The category `memory` of built-in tools; the request, the model and the person have to allow them (contract §3.6). */
const common = { category: "memory", feature: "memory", permission: "features.memories" } as const;

const text = (description: string) => ({ type: "string", description });
const type = {
  type: "string",
  enum: MemoryType.options,
  description: "`user` for what is true of the person, `context` for what they work on",
};
const path = text("A place such as work/mill");
const content = {
  type: "string",
  maxLength: limits.content,
  description: "One fact in one or two sentences",
};
const id = text("The memory's id");

const Listing = z.object({
  type: z.enum(["all", "user", "context"]).default("all"),
  limit: z.int().min(1).max(200).default(50),
});
const Place = z.object({ path: MemoryPath, include_children: z.boolean().default(true) });
const Removal = z.object({ memory_id: z.string() });
const Rewording = z.object({ memory_id: z.string(), content: z.string() });

/** Tools with which models look into and change what they remember about the person. */
export function createMemoryTools({ memories, chats }: ToolParts): readonly Tool[] {
  const apply = async (operations: readonly unknown[], context: ToolContext) => {
    const read = readAs(Operations, { operations });
    const cause = await toCause(chats, context);
    if (cause.isProposed && read.operations.some(({ action }) => action !== "add")) {
      throw new AppError(
        "forbidden",
        "This chat holds content of others, so memories cannot be changed or removed in it. Ask the person to do it in their settings.",
      );
    }
    const outcomes = await memories.apply(context.principal, read.operations, cause);
    return outcomes.map(({ action, memory }) => ({ action, ...show(memory) }));
  };
  return [...searchTools(memories), ...placeTools(memories), batchTool(apply), ...oneTools(apply)];
}

function searchTools(memories: Memories): Tool[] {
  return [
    defineTool({
      ...common,
      isParallel: true,
      id: "memories.search_memories",
      title: "Search memories",
      spec: {
        name: "search_memories",
        description:
          "Searches what is remembered about the person, by meaning and words; the newest without a query.",
        parameters: {
          type: "object",
          properties: {
            query: text("What to look for"),
            type: { ...type, enum: ["all", ...MemoryType.options], default: "all" },
            path,
            limit: { type: "integer", minimum: 1, maximum: 200, default: 20 },
          },
        },
      },
      run: async (parameters, { principal, signal }) =>
        (await memories.search(principal, readAs(MemorySearch, parameters), signal)).map(show),
    }),
    defineTool({
      ...common,
      isParallel: true,
      id: "memories.list_memories",
      title: "List memories",
      spec: {
        name: "list_memories",
        description: "Lists what is remembered about the person, newest first.",
        parameters: {
          type: "object",
          properties: {
            type: { ...type, enum: ["all", ...MemoryType.options], default: "all" },
            limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
          },
        },
      },
      run: async (parameters, { principal, signal }) =>
        (await memories.search(principal, readAs(MemorySearch, readAs(Listing, parameters)), signal)).map(
          show,
        ),
    }),
  ];
}

function placeTools(memories: Memories): Tool[] {
  return [
    defineTool({
      ...common,
      isParallel: true,
      id: "memories.list_memory_paths",
      title: "List places of memories",
      spec: {
        name: "list_memory_paths",
        description: "Lists the places that memories lie in, with how many each holds.",
        parameters: { type: "object", properties: {} },
      },
      run: (_parameters, { principal }) => memories.paths(principal),
    }),
    defineTool({
      ...common,
      isParallel: true,
      id: "memories.read_memory_path",
      title: "Read a place of memories",
      spec: {
        name: "read_memory_path",
        description: "Reads the memories of one place.",
        parameters: {
          type: "object",
          properties: { path, include_children: { type: "boolean", default: true } },
          required: ["path"],
        },
      },
      run: async (parameters, { principal }) => {
        const { path: place, include_children: withChildren } = readAs(Place, parameters);
        return (await memories.at(principal, { path: place, withChildren })).map(show);
      },
    }),
  ];
}

/** Carries out operations for the person that a call is for. */
type Apply = (operations: readonly unknown[], context: ToolContext) => Promise<object[]>;

function batchTool(apply: Apply): Tool {
  return defineTool({
    ...common,
    id: "memories.update_memory",
    isActing: true,
    title: "Change memories",
    spec: {
      name: "update_memory",
      description: "Carries out several changes of memories at once, all or none.",
      parameters: {
        type: "object",
        properties: {
          operations: {
            type: "array",
            minItems: 1,
            maxItems: limits.operations,
            items: {
              type: "object",
              properties: { action: { type: "string", enum: actions }, id, content, type, path },
              required: ["action"],
            },
          },
        },
        required: ["operations"],
      },
    },
    run: ({ operations }, context) => apply(Array.isArray(operations) ? operations : [operations], context),
  });
}

function oneTools(apply: Apply): Tool[] {
  return [
    defineTool({
      ...common,
      id: "memories.add_memory",
      isActing: true,
      title: "Remember something",
      spec: {
        name: "add_memory",
        description: "Remembers one lasting fact about the person or their work for later chats.",
        parameters: { type: "object", properties: { content, type, path }, required: ["content"] },
      },
      run: async (parameters, context) => (await apply([{ ...parameters, action: "add" }], context))[0],
    }),
    defineTool({
      ...common,
      id: "memories.replace_memory_content",
      isActing: true,
      title: "Correct a memory",
      spec: {
        name: "replace_memory_content",
        description: "Replaces the words of a memory that is no longer right.",
        parameters: {
          type: "object",
          properties: { memory_id: id, content },
          required: ["memory_id", "content"],
        },
      },
      async run(parameters, context) {
        const { memory_id: memoryId, content: words } = readAs(Rewording, parameters);
        return (await apply([{ action: "replace", id: memoryId, content: words }], context))[0];
      },
    }),
    defineTool({
      ...common,
      id: "memories.delete_memory",
      isActing: true,
      title: "Forget something",
      spec: {
        name: "delete_memory",
        description: "Forgets a memory.",
        parameters: { type: "object", properties: { memory_id: id }, required: ["memory_id"] },
      },
      run: async (parameters, context) =>
        (await apply([{ action: "remove", id: readAs(Removal, parameters).memory_id }], context))[0],
    }),
  ];
}

const actions = Operation.options.map(({ shape }) => shape.action.value);

async function toCause(chats: ToolParts["chats"], { chatId, messageId }: ToolContext): Promise<Cause> {
  const isProposed = await holdsForeignContent(chats, chatId, messageId);
  return {
    source: { by: "tool", ...(chatId && { chat_id: chatId }), ...(messageId && { message_id: messageId }) },
    isProposed,
  };
}

/** A memory as models see it. */
function show({ id: memoryId, type: kind, path: place, content: words, meta, updated_at: at }: Memory) {
  return {
    id: memoryId,
    type: kind,
    ...(place !== null && { path: place }),
    content: words,
    updated_at: at,
    ...(meta.proposed && { status: "waits for the person's yes" }),
  };
}

/** Parameters of a call. Throws `invalid` naming the field. */
function readAs<T>(shape: z.ZodType<T>, value: unknown): T {
  const read = shape.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new AppError("invalid", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
  }
  return read.data;
}
