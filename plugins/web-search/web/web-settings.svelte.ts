import { server } from "#plugins/web/kit/server.ts";
import { SettingChanges } from "#plugins/web/kit/settings/setting-changes.svelte.ts";

export type Engine = Awaited<ReturnType<typeof readEngines>>["engines"][number];
export type Trial = Awaited<ReturnType<typeof askEngine>>;

/** The settings of web search, and the engines that can be chosen. */
export class WebSettings extends SettingChanges {
  engines = $state.raw<readonly Engine[]>([]);
  isReady = $state(false);

  constructor() {
    super(async () => {
      const { engines, is_ready: isReady } = await readEngines();
      this.engines = engines;
      this.isReady = isReady;
    });
  }

  /** Names of sites, as people write them: by commas, spaces or lines. */
  changeList(name: string, text: string): void {
    this.changeText(name, text, (typed) => typed.split(/[\s,]+/).filter((entry) => entry !== ""));
  }
}

const readEngines = () => server.call("GET /api/v1/configs/web_search/engines");

/** Asks the stored engine. */
export const askEngine = (query: string) =>
  server.call("POST /api/v1/configs/web_search/try", { body: { query } });
