import { formatAgo, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { tools } from "#plugins/web/kit/stores/tools.svelte.ts";
import { featureIcons, featureTitle } from "#plugins/web/kit/tool-words.ts";
import { server } from "#plugins/web/kit/server.ts";
import type { ComposerTrigger, Suggestion } from "#plugins/web/kit/web.ts";
import { findModels } from "../picker/choose-models.ts";
import { models } from "../picker/models.svelte.ts";
import { followProcessing } from "./upload.ts";

const most = 12;

/** `@`: the model that answers next. */
export const modelTrigger: ComposerTrigger = {
  character: "@",
  get title() {
    return t("Models");
  },
  async list(query) {
    await models.load();
    return findModels(models.all, query)
      .slice(0, most)
      .map(({ id, name, description }) => ({
        id: `model:${id}`,
        title: name,
        ...(description || id !== name ? { description: description || id } : {}),
        icon: "bot",
        pick(composer) {
          composer.insert("");
          composer.setModel(id);
        },
      }));
  },
};

/** `#`: files that the person uploaded before. */
export const fileTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Add to the question");
  },
  async list(query, signal) {
    // Signs of the server's own patterns are letters here.
    const wanted = query.replaceAll(/[*?]/g, "");
    const filename = wanted === "" ? "*" : `*${wanted}*`;
    const search = { filename, content: "false", limit: most } as const;
    const found = await server.find("GET /api/v1/files/search", { query: search, signal });
    return (found as readonly Found[] | null)?.map(toSuggestion) ?? [];
  },
};

/** `#`, behind the files: tools and features to switch on for the chat. */
export const toolTrigger: ComposerTrigger = {
  character: "#",
  order: 2000,
  get title() {
    return t("Tools");
  },
  async list(query) {
    await tools.load();
    const wanted = query.toLowerCase();
    const all = [
      ...[...tools.features].map((id) => ({
        kind: "feature" as const,
        id,
        title: featureTitle(id),
        icon: featureIcons[id] ?? "sparkles",
      })),
      ...tools.listed.map(({ id, name, server }) => ({
        kind: "tool" as const,
        id,
        title: name,
        icon: server ? "plug" : "wrench",
      })),
    ];
    return all
      .filter(({ title }) => title.toLowerCase().includes(wanted))
      .slice(0, most)
      .map(({ kind, id, title, icon }) => ({
        id: `${kind}:${id}`,
        title,
        description: t("Tool"),
        icon,
        pick(composer) {
          composer.insert("");
          if (!composer.isOn(kind, id)) {
            composer.toggle(kind, id);
          }
        },
      }));
  },
};

interface Found {
  readonly id: string;
  readonly filename: string;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly created_at: number;
}

function toSuggestion({ id, filename, meta, created_at }: Found): Suggestion {
  const type = typeof meta["content_type"] === "string" ? meta["content_type"] : "";
  const isImage = type.startsWith("image/") && type !== "image/svg+xml";
  return {
    id: `file:${id}`,
    title: filename,
    description: formatAgo(created_at),
    icon: "file",
    pick(composer) {
      composer.insert("");
      const file = {
        type: isImage ? "image" : "file",
        id,
        name: filename,
        content_type: type,
        url: isImage ? `/api/v1/files/${id}/content` : id,
        status: "processed",
      };
      composer.attach(
        file,
        isImage
          ? undefined
          : async (signal) => {
              await followProcessing(id, signal);
              return file;
            },
      );
    },
  };
}
