import { text } from "#config/variable.ts";

export const config = {
  faviconUrl: text("WEBUI_FAVICON_URL", "", {
    key: "ui.favicon_url",
    persisted: true,
    whenEmpty: "",
    text: "Address of a picture (at most 1 MiB) that stands for the service in place of its own icon; this server reads it, once an hour",
  }),
};
