type Item = Readonly<Record<string, unknown>>;

const from = 1_764_000_000_000;

interface Made {
  readonly name: string;
  readonly given: object;
  readonly answer: string;
  /** Milliseconds. */
  readonly ms: number;
  readonly tool?: { readonly id: string; readonly title?: string; readonly server?: string };
  readonly isError?: boolean;
  readonly approval?: object;
  readonly embeds?: readonly string[];
}

let count = 0;

/** One round: its calls, then their results. */
function round(at: number, made: readonly Made[]): Item[] {
  const ids = made.map(() => `call_busy_${(count += 1)}`);
  const calls = made.map(({ name, given, tool, approval }, index) => ({
    type: "function_call",
    id: ids[index],
    call_id: ids[index],
    name,
    arguments: JSON.stringify(given),
    status: "completed",
    tool: tool ?? { id: `builtin.${name}` },
    started_at: from + at * 1000,
    ...(approval && { approval }),
  }));
  const results = made.map(({ answer, ms, isError, embeds }, index) => ({
    type: "function_call_output",
    id: `fco_${ids[index]}`,
    call_id: ids[index],
    status: "completed",
    duration_ms: ms,
    ...(isError && { is_error: true }),
    ...(embeds && { embeds }),
    output: [{ type: "input_text", text: answer }],
  }));
  return [...calls, ...results];
}

const said = (id: string, text: string): Item => ({
  type: "message",
  id: `msg_${id}`,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

const board = { id: "server:board", server: "River board" };
const levels = JSON.stringify([
  { gauge: "Lumme bridge", level_m: 1.42, trend: "rising", warning: "none" },
  { gauge: "Upper weir", level_m: 0.97, trend: "steady", warning: "none" },
  { gauge: "Mill race", level_m: 1.18, trend: "rising", warning: "watch" },
]);
const forecast = `## Forecast for the Lumme valley

- **Saturday**: 18 mm of rain, most of it before noon
- **Sunday**: 31 mm, with gusts
- **Monday**: dry

See [the bulletin](https://weather.example/lumme).`;
const last =
  "Yes, a moderate one on **Sunday afternoon**: 31 mm of rain fall on a river that is already rising, and the mill race is on watch at 1.18 m. I told the water board and noted it in the calendar.";

/** A reply that used many tools. */
export const busyReply = {
  content: last,
  output: [
    ...round(0, [
      {
        name: "get_current_timestamp",
        given: {},
        answer: '{"iso":"2025-11-28T09:12:00+01:00","weekday":"Friday"}',
        ms: 2,
        tool: { id: "time", title: "Current time" },
      },
    ]),
    said("1", "I look at the gauges and the forecast first."),
    ...round(2, [
      {
        name: "list_gauges",
        given: { river: "Lumme" },
        answer: levels,
        ms: 840,
        tool: { ...board, title: "List gauges" },
      },
      {
        name: "forecast",
        given: { valley: "Lumme", days: 3 },
        answer: forecast,
        ms: 1310,
        tool: { id: "server:mcp:weather", title: "Forecast", server: "Weather" },
      },
      {
        name: "search_chats",
        given: { query: "flood plan" },
        answer: '[{"id":"c1","title":"Flood plan"}]',
        ms: 64,
        tool: { id: "chats", title: "Search earlier chats" },
      },
    ]),
    said("2", "The race is on watch. I calculate how high it gets."),
    ...round(5, [
      {
        name: "execute_code",
        given: {
          code: "rain = [18, 31, 0]\nlevel = 1.18\nfor mm in rain:\n    level += mm * 0.011\nprint(round(level, 2))",
        },
        answer: '{"stdout":"1.72\\n","result":null}',
        ms: 2140,
        tool: { id: "code", title: "Run code" },
      },
    ]),
    ...round(9, [
      {
        name: "send_notice",
        given: { to: "water board", level: 1.72 },
        answer: "Error: The server of the river board answered 503.",
        ms: 5020,
        isError: true,
        tool: { ...board, title: "Send a notice" },
      },
    ]),
    ...round(15, [
      {
        name: "send_notice",
        given: { to: "water board", level: 1.72 },
        answer: '{"id":"N-2231","status":"sent"}',
        ms: 610,
        tool: { ...board, title: "Send a notice" },
        approval: {
          status: "allowed",
          changed: { before: "Sends a notice", now: "Sends a notice to an authority" },
        },
      },
    ]),
    said("3", last),
  ],
};
