const usage = {
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: 15,
  output_tokens_details: { reasoning_tokens: 2 },
};
export const output = [
  { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
  {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Grüße 世界", annotations: [] }],
  },
];
export const call = {
  id: "fc_1",
  type: "function_call",
  call_id: "c1",
  name: "f",
  arguments: '{"x":1}',
  status: "completed",
};
export const response = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "r",
  status: "completed",
  output,
  usage,
};

/** The events of an answer of this format, with or without the pieces that servers may leave out. */
export function events(isPieced: boolean, last: object = { type: "response.completed", response }) {
  const piece = (type: string, rest: object) => ({ type: `response.${type}`, ...rest });
  const made = [
    piece("created", { response: { ...response, status: "in_progress", output: [] } }),
    piece("output_item.added", { output_index: 0, item: { ...output[0], summary: [] } }),
    ...(isPieced ? [piece("reasoning_summary_text.delta", { output_index: 0, delta: "Hm" })] : []),
    piece("output_item.done", { output_index: 0, item: output[0] }),
    piece("output_item.added", { output_index: 1, item: { ...output[1], content: [] } }),
    ...(isPieced
      ? ["Grü", "ße ", "世界"].map((delta) => piece("output_text.delta", { output_index: 1, delta }))
      : []),
    piece("output_item.done", { output_index: 1, item: output[1] }),
    piece("output_item.added", { output_index: 2, item: { ...call, arguments: "" } }),
    ...(isPieced
      ? ['{"x"', ":1}"].map((delta) => piece("function_call_arguments.delta", { output_index: 2, delta }))
      : []),
    piece("output_item.done", { output_index: 2, item: call }),
    last,
  ];
  return made.map(
    (event, at) =>
      `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`,
  );
}
