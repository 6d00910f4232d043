import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  runners: [
    {
      languages: ["python", "py", "python3"],
      isAvailable: () => Boolean(session.current && session.config?.features["enable_code_execution"]),
      load: () => import("./RunOutput.svelte"),
    },
  ],
  renderers: [{ type: "service:code_interpreter", load: () => import("./CodeRun.svelte") }],
  calls: [{ type: "execute:python", load: () => import("./answer-call.ts") }],
});
