import { settings } from "#plugins/web/kit/stores/settings.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { type BuiltInTool, describe, tools } from "#plugins/web/kit/stores/tools.svelte.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { featureIcons, featureTitle, toolTitle } from "#plugins/web/kit/tool-words.ts";
import { wanted } from "../data/chosen-tools.ts";
import type { ChatView } from "../data/types.ts";
import { can } from "../picker/model.ts";
import { models } from "../picker/models.svelte.ts";

/** Something that can be switched on for a chat. */
export interface Choice {
  readonly kind: "feature" | "tool" | "terminal" | "built-in";
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
  /** Built-in tools stand by their categories. */
  readonly group: "feature" | "workspace" | "server" | "terminal" | `built-in:${string}`;
  readonly isOn: boolean;
  /** It writes or deletes what people keep. */
  readonly isActing: boolean;
  /** Address where the person signs in to it first. */
  readonly signIn: string | undefined;
  /** Why it cannot be used here although it is on. */
  readonly problem: string | undefined;
}

const mcp = "server:mcp:";
/** Those that people know come first. */
const featureOrder = ["web_search", "code_interpreter", "image_generation", "memory"];

/** The tools menu's entries in their order: features that are served, chosen tools, and those that go with each message. */
export function offered(chat: ChatView): readonly Choice[] {
  return [...features(chat), ...listed(chat), ...terminals(chat), ...builtIn(chat)];
}

/** How many tools go with the next message; a feature counts by the tools that it brings. */
export const countTools = (choices: readonly Choice[]): number =>
  choices.filter(({ kind, isOn }) => isOn && kind !== "feature").length;

/** Built-in tools that the model is offered while nobody switches them off. */
function builtIn({ tools: chosen, models: [modelId] }: ChatView): Choice[] {
  const model = models.find(modelId);
  const isServed = ({ category, feature }: BuiltInTool) =>
    can(model, "builtin_tools") &&
    !model?.offCategories.has(category ?? "") &&
    (feature === null || (can(model, feature) && wanted(chosen).includes(feature)));
  return tools.builtIn
    .filter((tool) => isServed(tool))
    .map((tool): Choice => ({
      kind: "built-in",
      id: tool.id,
      title: toolTitle(tool),
      text: "",
      icon: "wrench",
      group: `built-in:${tool.category ?? ""}`,
      isOn: !chosen.excluded.includes(tool.id),
      isActing: tool.acts,
      signIn: undefined,
      problem: undefined,
    }))
    .toSorted((a, b) => a.group.localeCompare(b.group));
}

function features({ tools: chosen, models: [modelId] }: ChatView): Choice[] {
  const model = models.find(modelId);
  const place = (name: string) => featureOrder.indexOf(name) + 1 || featureOrder.length + 1;
  return (
    [...tools.features]
      .filter((name) => can(model, name) && can(model, "builtin_tools"))
      // One who uses memories in all chats has nothing to switch here.
      .filter((name) => name !== "memory" || !settings.get("memory"))
      .toSorted((a, b) => place(a) - place(b) || a.localeCompare(b))
      .map((name) => ({
        kind: "feature",
        id: name,
        title: featureTitle(name),
        text: featureText(name),
        icon: featureIcons[name] ?? "sparkles",
        group: "feature",
        isOn: chosen.features.includes(name),
        isActing: false,
        signIn: undefined,
        problem: undefined,
      }))
  );
}

function listed({ tools: chosen }: ChatView): Choice[] {
  const known = tools.listed.map((tool): Choice => {
    const { id, name, server, authenticated } = tool;
    const needsSignIn = authenticated === false && id.startsWith(mcp);
    return {
      kind: "tool",
      id,
      title: name,
      text: describe(tool),
      icon: server ? "plug" : "wrench",
      group: server ? "server" : "workspace",
      isOn: chosen.toolIds.includes(id),
      isActing: false,
      signIn: needsSignIn
        ? `/oauth/clients/mcp:${encodeURIComponent(id.slice(mcp.length))}/authorize`
        : undefined,
      problem: authenticated === false ? t("needs a sign-in") : undefined,
    };
  });
  return known.toSorted((a, b) => Number(a.group === "server") - Number(b.group === "server"));
}

function terminals({ tools: chosen }: ChatView): Choice[] {
  return tools.terminals.map(({ id, name }) => ({
    kind: "terminal",
    id,
    title: name || id,
    text: t("The model works in its folders"),
    icon: "terminal",
    group: "terminal",
    isOn: chosen.terminalId === id,
    isActing: false,
    signIn: undefined,
    problem: undefined,
  }));
}

function featureText(name: string): string {
  const config = session.config?.features;
  if (name === "web_search" && config?.["enable_web_search_confirmation"] === true) {
    return String(config["web_search_confirmation_content"] || t("Asks you before each search"));
  }
  const texts: Readonly<Record<string, string>> = {
    web_search: t("Looks things up and reads pages"),
    image_generation: t("Draws and changes pictures"),
    code_interpreter: t("Calculates, reads data and draws plots"),
    memory: t("Remembers what you tell it, over all chats"),
  };
  return texts[name] ?? "";
}
