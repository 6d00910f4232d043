import { hasPermission } from "#kernel/access/permissions.ts";
import { type ToolApprover, withApproval } from "./approval.ts";
import { isToolSource, type Tool, type ToolSelection, type ToolSource } from "./tool.ts";

/** A tool or source with the switch of the plugin it belongs to. */
export interface OwnedTool {
  readonly entry: Tool | ToolSource;
  isEnabled(): boolean;
}

export interface ToolRegistry {
  /**
   * The tools the caller may use now, each name once: native tools first, then what sources select. A second
   * tool of a taken name is offered as `<tool id>_<name>`. Each runs only as far as its `approval` allows; those with
   * `deny` are there so that calls of them can be refused, and are not to be offered to models.
   */
  select(selection: ToolSelection): Promise<readonly Tool[]>;
}

/** Builds the registry over everything plugins contributed; `approvers` are asked when a tool is selected or run. */
export function createToolRegistry(
  owned: readonly OwnedTool[],
  approvers: () => readonly ToolApprover[],
): ToolRegistry {
  return {
    async select(selection) {
      const enabled = owned.filter((tool) => tool.isEnabled()).map(({ entry }) => entry);
      const native = enabled.filter((entry): entry is Tool => !isToolSource(entry));
      const sources = enabled.filter(isToolSource);
      const selected = await Promise.all(sources.map((source) => source.select(selection)));
      const permitted = [...native, ...selected.flat()].filter(
        (tool) => tool.permission === undefined || hasPermission(selection.principal, tool.permission),
      );
      const [approver] = approvers();
      return withUniqueNames(permitted.map((tool) => withApproval(tool, approver)));
    },
  };
}

function withUniqueNames(tools: readonly Tool[]): Tool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const name = taken.has(tool.spec.name) ? `${tool.id}_${tool.spec.name}` : tool.spec.name;
    taken.add(name);
    return name === tool.spec.name ? tool : { ...tool, spec: { ...tool.spec, name } };
  });
}
