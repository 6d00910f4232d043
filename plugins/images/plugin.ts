import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, egress, events } from "#kernel/services.ts";
import { imagePromptWriter } from "#plugins/chat-tasks/service.ts";
import { chats } from "#plugins/chats/service.ts";
import { contextSources } from "#plugins/completions/service.ts";
import { files } from "#plugins/files/service.ts";
import { imageVariables } from "./config.ts";
import { createEngines } from "./engines/engines.ts";
import { createGallery } from "./gallery.ts";
import { createImages } from "./images.ts";
import { createLegacyImages } from "./legacy-images.ts";
import { createMadePictures } from "./migrations/0001_made_pictures.ts";
import { createSources } from "./picture-sources.ts";
import { configRoutes } from "./routes/config-routes.ts";
import { imageRoutes } from "./routes/routes.ts";
import { type ImageEngine, imageEngines } from "./service.ts";
import type { ImageTables } from "./tables.ts";
import { createImageTools } from "./tools.ts";

export default definePlugin({
  id: "images",
  title: "Images",
  summary: "Makes and changes pictures with engines, for models and people.",
  config: imageVariables,
  uses: {
    chats,
    configuration,
    egress,
    engines: imageEngines,
    events,
    files,
    writer: optional(imagePromptWriter),
  },
  tables: tables<ImageTables>("made_picture"),
  migrations: { "0001_made_pictures": createMadePictures },
  permissions: [{ path: "features.image_generation", default: true }],
  pages: [
    {
      id: "images",
      path: "/images",
      title: "Images",
      icon: "image",
      place: "main",
      order: 36,
      access: "permission:features.image_generation",
    },
    {
      id: "images.settings",
      path: "/admin/images",
      title: "Images",
      icon: "image",
      place: "admin",
      group: "models",
      order: 29,
      access: "admin",
    },
  ],

  setup({ config, use, db, log }) {
    const own = createEngines({ egress: use.egress, settings: config });
    const engines = () => [...own, ...use.engines.list()];
    const gallery = createGallery(db);
    const images = createImages({ ...use, settings: config, engines, gallery, sources: createSources(use) });
    const parts = { settings: config, images, gallery, engines, configuration: use.configuration };
    return {
      routes: {
        api: [...configRoutes("/images", parts), ...imageRoutes("/images", parts)],
        images: [...configRoutes("", parts), ...imageRoutes("", parts)],
      },
      tools: [createImageTools({ ...parts, chats: use.chats })],
      fills: [fill(contextSources, createLegacyImages({ ...parts, writer: use.writer, log }))],
      start: () => requireDistinct(engines()),
    };
  },
});

function requireDistinct(engines: readonly ImageEngine[]): void {
  const ids = engines.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) {
    throw new Error(`Two plugins bring an image engine with the id "${twice}".`);
  }
}
