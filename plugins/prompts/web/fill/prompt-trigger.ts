import { mount, unmount } from "svelte";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { router } from "#plugins/web/kit/stores/router.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { ComposerHandle, ComposerTrigger, Suggestion } from "#plugins/web/kit/web.ts";
import { newPath, type PromptItem } from "../prompts.ts";
import { knownValues } from "./known-values.ts";
import { fillIn, toVariables } from "./variables.ts";

const most = 12;

/** `/`: prompts by their command. Those whose command begins with what is typed come first. */
export const promptTrigger: ComposerTrigger = {
  character: "/",
  get title() {
    return t("Prompts");
  },
  async list(query, signal) {
    const wanted = { query, is_active: "true", order_by: "command", direction: "asc" } as const;
    const { items } = await server
      .call("GET /api/v1/prompts/list", { query: wanted, signal })
      .catch((error: unknown) => {
        // Deployments may have left prompts out.
        if ([401, 403, 404].includes((error as { status?: number }).status ?? 0)) {
          return { items: [] as readonly PromptItem[] };
        }
        throw error;
      });
    const typed = query.toLowerCase();
    if (typed === "" && items.length === 0 && session.may("workspace.prompts")) {
      return [first()];
    }
    const rank = ({ command }: PromptItem) => Number(!command.toLowerCase().startsWith(typed));
    return items
      .toSorted((a, b) => rank(a) - rank(b))
      .slice(0, most)
      .map((prompt) => ({
        id: `prompt:${prompt.id}`,
        title: `/${prompt.command}`,
        description: prompt.name,
        icon: "slash",
        pick: (composer) => write(composer, prompt),
      }));
  },
};

/** Before there is any, the character says what it is for. */
const first = (): Suggestion => ({
  id: "prompts.new",
  title: t("New prompt"),
  description: t("A text that you use often, kept under a short command."),
  icon: "slash",
  pick(composer) {
    composer.insert("");
    router.navigate(newPath);
  },
});

/** Puts the text of a prompt into the message; a form asks for its inputs first. */
async function write(composer: ComposerHandle, { name, content }: PromptItem): Promise<void> {
  const known = await knownValues(content);
  if (toVariables(content).length === 0) {
    composer.insert(fillIn(content, known));
    return;
  }
  const { default: FillDialog } = await import("./FillDialog.svelte");
  const dialog = mount(FillDialog, {
    target: document.body,
    props: {
      name,
      content,
      onfilled: (values) => composer.insert(fillIn(content, { ...values, ...known })),
      onclosed: () => {
        composer.focus();
        void unmount(dialog);
      },
    },
  });
}
