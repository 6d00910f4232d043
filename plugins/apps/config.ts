import { checkOrigins } from "#config/parse.ts";
import { bool, list } from "#config/variable.ts";

export const appVariables = {
  enabled: bool("ENABLE_APPS", false, {
    key: "apps.enable",
    persisted: true,
    text: "Lets administrators register programs that join channels; needs channels",
  }),
  allowedPrivateOrigins: list("APP_ALLOWED_PRIVATE_ORIGINS", [], {
    check: checkOrigins,
    text: "Origins (scheme, host, port) on private addresses at which apps may be reached",
  }),
};
