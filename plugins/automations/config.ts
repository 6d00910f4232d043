import { core } from "#config/core.ts";
import { bool, duration, int } from "#config/variable.ts";

export const automationVariables = {
  enabled: bool("ENABLE_AUTOMATIONS", true, {
    key: "automations.enable",
    persisted: true,
    text: "Lets people with the permission features.automations have prompts run by themselves",
  }),
  maxCount: int("AUTOMATION_MAX_COUNT", null, {
    key: "automations.max_count",
    persisted: true,
    min: 0,
    text: "Most automations of one member; empty for no limit. Administrators have none",
  }),
  minInterval: int("AUTOMATION_MIN_INTERVAL", null, {
    key: "automations.min_interval",
    persisted: true,
    min: 0,
    text: "Least seconds between two runs of a member's automation; empty for no limit",
  }),
  tokenLifetime: duration("AUTOMATION_AUTH_TOKEN_EXPIRES_IN", "1h", {
    key: "automations.auth_token_expires_in",
    persisted: true,
    text: "Time after which a run of an automation loses its right to act and is stopped",
  }),
  pollSeconds: core.schedulerPollInterval,
};
