import { bool, int } from "#config/variable.ts";

export const runVariables = {
  savesEveryChunk: bool("ENABLE_REALTIME_CHAT_SAVE", false, {
    text: "Stores a growing reply with every chunk instead of once a second; not for many people at a time",
  }),
  convertsPictures: bool("ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION", false, {
    text: "Stores base64 images over 1 KB of replies as files and puts their addresses in place",
  }),
  appends: bool("ENABLE_CHAT_RESPONSE_STREAM_INPLACE_APPEND", false, {
    text: "Appends streamed text in place",
    noEffect: "of a growing reply only what is new is stored, always",
  }),
  typesByExtension: bool("ENABLE_IMAGE_CONTENT_TYPE_EXTENSION_FALLBACK", false, {
    text: "Tells the type of an image that was stored without one by its file name's extension",
  }),
  maxIterations: int("CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS", 256, {
    was: "CHAT_RESPONSE_MAX_TOOL_CALL_RETRIES",
    whenWas: 30,
    whenInvalid: 256,
    min: -1,
    text: "Tool-calling turns per reply; -1 is unlimited",
  }),
  stopsRepeats: bool("CHAT_RESPONSE_STOP_REPEATED_TOOL_CALLS", false, {
    text: "Ends a reply whose model repeats a tool call with the same result; else the model is only told",
  }),
};
