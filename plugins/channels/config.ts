import { bool, oneOf } from "#config/variable.ts";

export const channelVariables = {
  enabled: bool("ENABLE_CHANNELS", false, {
    key: "channels.enable",
    persisted: true,
    text: "Lets people with the permission features.channels talk in channels",
  }),
  responseMode: oneOf("CHANNEL_MODEL_RESPONSE_MODE", ["thread", "channel"], "thread", {
    key: "channels.model_response_mode",
    persisted: true,
    text: "Where a model answers a message of the channel that mentions it: in the message's thread, or in the channel",
  }),
};
