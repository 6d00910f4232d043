import { bool, int } from "#config/variable.ts";

export const completionVariables = {
  outletFilters: bool("ENABLE_API_OUTLET_FILTERS", true, {
    text: "Outlet filters also run for completions that are answered over HTTP",
  }),
  deltaChunkSize: int("CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE", 1, {
    min: 1,
    whenInvalid: 1,
    text: "Fewest tokens joined into one streamed chunk; the highest of this, the model's and the request's value counts",
  }),
};
