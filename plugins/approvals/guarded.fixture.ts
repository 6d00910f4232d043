import { definePlugin } from "#kernel/plugin.ts";
import { defineTool } from "#kernel/tools/tool.ts";

/** The runs of guarded tools: name and parameters. */
export const done: { name: string; parameters: unknown }[] = [];

/** Of the tool `send`; tests change them. */
export const facts: { description: string; revision?: string } = { description: "Sends a letter" };

const define = (name: string, approval: "ask" | "deny" | undefined, more: object = {}) =>
  defineTool({
    id: `guarded.${name}`,
    get spec() {
      const parameters = { type: "object", properties: { to: { type: "string" } } };
      return { name, description: name === "send" ? facts.description : name, parameters };
    },
    get revision() {
      return name === "send" ? facts.revision : undefined;
    },
    ...(approval && { approval }),
    run: async (parameters) => {
      done.push({ name, parameters });
      return `${name}: done`;
    },
    ...more,
  });

/** Tools that ask before they act, one that never may, and one that simply does. */
export const guarded = definePlugin({
  id: "guarded",
  title: "Guarded tools",
  setup: () => ({
    tools: [
      define("send", "ask"),
      define("wipe", "deny"),
      define("look", undefined),
      define("read", undefined, { isActing: false }),
      define("both", "ask", { isParallel: true }),
    ],
  }),
});
