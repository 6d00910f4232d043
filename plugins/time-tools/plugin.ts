import { definePlugin } from "#kernel/plugin.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { createTimeTools } from "./time-tools.ts";

export default definePlugin({
  id: "time-tools",
  title: "Time for models",
  summary: "Tools with which models look at the clock and count days.",
  uses: { accounts },
  setup: ({ use }) => ({ tools: [createTimeTools({ accounts: use.accounts })] }),
});
