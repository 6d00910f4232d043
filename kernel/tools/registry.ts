import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type ToolApprover, withApproval } from "./approval.ts";
import { maxToolName, toProviderName } from "./names.ts";
import { isToolSource, type Tool, type ToolRun, type ToolSelection, type ToolSource } from "./tool.ts";

/** A tool or source with the switch of the plugin it belongs to. */
export interface OwnedTool {
  readonly entry: Tool | ToolSource;
  isEnabled(): boolean;
}

export interface ToolRegistry {
  /**
   * Throws `not_found` unless the caller may use everything that `toolIds` names: unknown ids and ids of others' tools
   * are told alike, and nothing outside is asked.
   */
  requireGranted(selection: ToolSelection): Promise<void>;

  /**
   * The tools the caller may use now, each name once: built-in tools first, then workspace tools, then those of servers. A second
   * tool of a taken name is offered as `<tool id>_<name>`, in characters that providers take. External tools are there only when they are asked for. Each runs only as far as its `approval` allows; those with
   * `deny` are there so that calls of them can be refused, and are not to be offered to models.
   */
  select(selection: ToolSelection): Promise<readonly Tool[]>;
}

/** Builds the registry over everything plugins contributed; `approvers` are asked when a tool is selected or run. */
export function createToolRegistry(
  owned: readonly OwnedTool[],
  approvers: () => readonly ToolApprover[],
): ToolRegistry {
  const enabled = () => {
    const entries = owned.filter((tool) => tool.isEnabled()).map(({ entry }) => entry);
    const native = entries.filter((entry): entry is Tool => !isToolSource(entry));
    return { native, sources: entries.filter(isToolSource) };
  };
  return {
    async requireGranted(selection) {
      const { native, sources } = enabled();
      const granted = await Promise.all(sources.map((source) => source.granted(selection)));
      const own = native.filter(isPermitted(selection.principal)).map(({ id }) => id);
      const all = new Set([...own, ...granted.flat()]);
      if (!selection.toolIds.every((id) => all.has(id))) {
        throw new AppError("not_found", "Tool not found");
      }
    },
    async select(selection) {
      const { native, sources } = enabled();
      const selected = await Promise.all(sources.map((source) => source.select(selection)));
      const asked = native.filter(({ id, isExternal }) => !isExternal || selection.toolIds.includes(id));
      const permitted = [...asked, ...selected.flat()]
        .filter(isPermitted(selection.principal))
        .toSorted((a, b) => rankOf(a) - rankOf(b));
      const offered = await whereOffered(permitted, selection.run);
      const [approver] = approvers();
      return withUniqueNames(offered.map((tool) => withApproval(tool, approver)));
    },
  };
}

/** Whose name counts: nothing that people bring stands in for a built-in tool (contract §4.3, promise R28). */
function rankOf({ id, isExternal }: Tool): number {
  return !isExternal ? 0 : id.startsWith("server:") ? 2 : 1;
}

function isPermitted(principal: Principal): (tool: Tool) => boolean {
  return ({ permission }) => permission === undefined || hasPermission(principal, permission);
}

async function whereOffered(tools: readonly Tool[], run: ToolRun | undefined): Promise<readonly Tool[]> {
  if (run === undefined) {
    return tools;
  }
  const isOffered = await Promise.all(tools.map((tool) => tool.isOffered?.(run) ?? true));
  return tools.filter((_tool, at) => isOffered[at]);
}

function withUniqueNames(tools: readonly Tool[]): Tool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const name = toFreeName(tool, taken);
    taken.add(name);
    return name === tool.spec.name ? tool : { ...tool, spec: { ...tool.spec, name } };
  });
}

function toFreeName({ id, spec }: Tool, taken: ReadonlySet<string>): string {
  const own = toProviderName(spec.name);
  if (!taken.has(own)) {
    return own;
  }
  const spaced = toProviderName(`${id}_${spec.name}`);
  let [name, count] = [spaced, 1];
  while (taken.has(name)) {
    count += 1;
    const ending = `_${count}`;
    name = spaced.slice(0, maxToolName - ending.length) + ending;
  }
  return name;
}
