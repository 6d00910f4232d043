import type { Script } from "./upstream-exchange.ts";
import { json, sse, type StreamOptions } from "./upstream-scripts.ts";

type Item = Readonly<Record<string, unknown>>;

export interface RespondOptions extends Pick<StreamOptions, "split" | "every"> {
  readonly model?: string;
  readonly status?: "completed" | "incomplete" | "failed";
  /** Further fields of the response: incomplete_details, error. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly usage?: Readonly<Record<string, unknown>> | null;
  /** The stream stops before its last event. */
  readonly isCut?: boolean;
}

export const responsesUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 30 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 120,
};

/** A text as an item of a response. */
export const said = (text: string): Item => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** A reasoning item with a summary and, where given, encrypted content. */
export const thought = (summary: string, sealed?: string): Item => ({
  id: "rs_1",
  type: "reasoning",
  summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
  ...(sealed !== undefined && { encrypted_content: sealed }),
});

/** A call of a function. */
export const calls = (id: string, name: string, args: string): Item => ({
  id: `fc_${id}`,
  type: "function_call",
  call_id: id,
  name,
  arguments: args,
  status: "completed",
});

/** An answer of the Responses format, streamed with all of its events or whole, as the request asks for. */
export function respond(output: readonly Item[], options: RespondOptions = {}): Script {
  return (exchange) => {
    const { model = "r", status = "completed", usage = responsesUsage, more, isCut, ...how } = options;
    const response = {
      id: "resp_1",
      object: "response",
      created_at: 1,
      model,
      status,
      output,
      usage,
      ...more,
    };
    if (exchange.request.body?.stream !== true) {
      return json(response)(exchange);
    }
    const events = toEvents(response);
    const frames = (isCut ? events.slice(0, -1) : events).map(
      (event, at) =>
        `event: ${event["type"]}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`,
    );
    return sse(frames, { ...how, done: false })(exchange);
  };
}

function toEvents(response: Item & { readonly output: readonly Item[] }): Item[] {
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...response.output.flatMap(toItemEvents),
    { type: `response.${response["status"]}`, response },
  ];
}

function toItemEvents(item: Item, index: number): Item[] {
  const at = { output_index: index, item_id: item["id"] };
  const begun = { ...item, status: "in_progress", ...emptied[item["type"] as string] };
  return [
    { type: "response.output_item.added", output_index: index, item: begun },
    ...partsOf(item).flatMap((part) => part.map((event) => ({ ...at, ...event }))),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

const emptied: Readonly<Record<string, Item>> = {
  message: { content: [] },
  reasoning: { summary: [], encrypted_content: "" },
  function_call: { arguments: "" },
};

function partsOf(item: Item): Item[][] {
  if (item["type"] === "function_call") {
    const args = String(item["arguments"]);
    const name = "response.function_call_arguments";
    return [
      [
        ...halves(args).map((delta) => ({ type: `${name}.delta`, delta })),
        { type: `${name}.done`, arguments: args },
      ],
    ];
  }
  const summary = (item["summary"] ?? []) as Item[];
  const content = (item["content"] ?? []) as Item[];
  return [
    ...summary.map((part, n) =>
      toPartEvents(part, { summary_index: n }, "reasoning_summary_part", "reasoning_summary_text"),
    ),
    ...content.map((part, n) =>
      toPartEvents(
        part,
        { content_index: n },
        "content_part",
        part["type"] === "refusal" ? "refusal" : "output_text",
      ),
    ),
  ];
}

function toPartEvents(part: Item, at: Item, partName: string, textName: string): Item[] {
  const key = part["type"] === "refusal" ? "refusal" : "text";
  const text = String(part[key]);
  return [
    { type: `response.${partName}.added`, ...at, part: { ...part, [key]: "" } },
    ...halves(text).map((delta) => ({ type: `response.${textName}.delta`, ...at, delta })),
    { type: `response.${textName}.done`, ...at, [key]: text },
    { type: `response.${partName}.done`, ...at, part },
  ];
}

/** In two pieces, so that a wrong order shows. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}
