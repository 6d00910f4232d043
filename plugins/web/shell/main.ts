import { mount } from "svelte";
import type { Messages } from "../kit/i18n/index.svelte.ts";
import { readMessagesWith } from "../kit/i18n/index.svelte.ts";
import { gather } from "../kit/contributions.ts";
import { web as kit } from "../kit/gallery/index.ts";
import type { WebPlugin } from "../kit/web.ts";
import "../kit/styles.css";
import App from "./App.svelte";

gather([
  kit,
  ...Object.values(import.meta.glob<WebPlugin>("../../*/web/index.ts", { eager: true, import: "web" })),
]);

const files = import.meta.glob<Messages>(["../../*/web/locales/*.json", "../kit/locales/*.json"], {
  import: "default",
});

readMessagesWith(async (language) => {
  const wanted = Object.entries(files).filter(([path]) => path.endsWith(`/${language}.json`));
  return Object.assign({}, ...(await Promise.all(wanted.map(([, load]) => load())))) as Messages;
});

mount(App, { target: document.getElementById("app") as HTMLElement });
