import { z } from "zod";
import { approvalPolicies } from "#kernel/tools/approval-state.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool } from "#kernel/tools/tool.ts";

const BuiltInTool = z
  .object({
    id: z.string(),
    name: z.string(),
    title: z.string().nullable(),
    description: z.string(),
    category: z.string().nullable(),
    feature: z.string().nullable(),
    approval: z.enum(approvalPolicies),
    acts: z.boolean().meta({ description: "It writes or deletes what people keep" }),
  })
  .meta({ id: "BuiltInTool" });

/**
 * The built-in tools that the caller may use: clients offer those features alone that some tool serves (contract D.37),
 * and editors of models show what each category of `meta.builtinTools` holds (contract §3.6).
 */
export function builtInToolsRoute(registry: ToolRegistry) {
  return defineRoute(
    {
      method: "GET",
      path: "/tools/builtin",
      summary:
        "List the built-in tools that the caller may use, with categories, features and approval policies",
      access: "user",
      returns: z.array(BuiltInTool),
    },
    async ({ caller }) => {
      const tools = await registry.select({ principal: caller, toolIds: [] });
      return tools.filter(({ isExternal }) => isExternal !== true).map(toListed);
    },
  );
}

const toListed = ({ id, spec, title, category, feature, approval, isActing }: Tool) => ({
  id,
  name: spec.name,
  title: title ?? null,
  description: spec.description,
  category: category ?? null,
  feature: feature ?? null,
  approval: approval ?? "auto",
  acts: isActing === true,
});
