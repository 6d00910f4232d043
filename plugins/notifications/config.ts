import { checkAddress } from "#config/parse.ts";
import { text } from "#config/variable.ts";

export const notificationVariables = {
  webhookUrl: text("WEBHOOK_URL", "", {
    key: "webhook_url",
    persisted: true,
    secret: true,
    check: checkAddress,
    text: "Address that hears of new accounts, failed automations, and of starts and stops of the server",
  }),
};
