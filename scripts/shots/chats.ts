import { randomUUID } from "node:crypto";
import { busyReply } from "./tool-calls.ts";
import { answer, code, diagram, hornbeam, longCode, oak, question } from "./texts.ts";

type Item = Readonly<Record<string, unknown>>;

interface Turn {
  readonly asks: string;
  /** Fields of the reply, as they are stored. */
  readonly reply: Readonly<Record<string, unknown>>;
  /** Replies of other models to the same question. */
  readonly beside?: readonly Readonly<Record<string, unknown>>[];
}

const said = (text: string): Item => ({
  type: "message",
  id: `msg_${randomUUID()}`,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

const thought = (text: string, duration: number): Item => ({
  type: "reasoning",
  id: `r_${randomUUID()}`,
  status: "completed",
  start_tag: "<think>",
  end_tag: "</think>",
  attributes: { type: "reasoning_content" },
  content: [{ type: "output_text", text }],
  summary: null,
  started_at: 1_764_000_000,
  ended_at: 1_764_000_000 + duration,
  duration,
});

function called(name: string, given: object, result: string): Item[] {
  const id = `call_${randomUUID().slice(0, 8)}`;
  return [
    { type: "function_call", id, call_id: id, name, arguments: JSON.stringify(given), status: "completed" },
    {
      type: "function_call_output",
      id: `fco_${id}`,
      call_id: id,
      status: "completed",
      output: [{ type: "input_text", text: result }],
    },
  ];
}

const usage = {
  prompt_tokens: 812,
  completion_tokens: 436,
  input_tokens: 812,
  output_tokens: 436,
  total_tokens: 1248,
};

/** The chats of the screenshots, by name. */
export const chats = {
  mill: {
    title: "How a water mill works",
    turns: [
      {
        asks: question,
        reply: {
          content: answer,
          output: [thought("The gears multiply: 96/24 is four, 80/20 is four.", 12), said(answer)],
          usage,
        },
      },
      { asks: "And as code?", reply: { content: code, output: [said(code)], usage } },
    ],
  },
  tools: {
    title: "River levels this week",
    turns: [
      {
        asks: "Is the river high enough to mill on Friday? Look it up.",
        reply: {
          content:
            "Yes: the gauge stands at **1.4 m** and rises until Friday [1]. Above 1.1 m the race is full [2].",
          output: [
            thought("I need the gauge and the forecast.", 4),
            ...called("gauge_level", { river: "Lumme", hours: 48 }, '{"level_m":1.4,"trend":"rising"}'),
            ...called(
              "search_web",
              { query: "Lumme water level forecast Friday" },
              '[{"title":"Lumme forecast","level":"1.5 m"}]',
            ),
            said(
              "Yes: the gauge stands at **1.4 m** and rises until Friday [1]. Above 1.1 m the race is full [2].",
            ),
          ],
          sources: [
            {
              source: { id: "1", name: "Lumme gauge", url: "https://gauges.example/lumme" },
              document: ["Level 1.4 m at 09:00, rising by 2 cm a day; 1.5 m expected on Friday."],
              metadata: [{ source: "https://gauges.example/lumme", name: "Lumme gauge" }],
            },
            {
              source: { id: "2", name: "Handbook of the mill.pdf" },
              document: ["Below 1.1 m at the gauge the race runs dry before noon."],
              metadata: [{ source: "handbook", name: "Handbook of the mill.pdf" }],
            },
          ],
          usage,
        },
      },
    ],
  },
  busy: {
    title: "Flood watch for the weekend",
    turns: [
      {
        asks: "Is there a risk of flooding at the mill this weekend? Check everything, and tell the water board if so.",
        reply: busyReply,
      },
    ],
  },
  diagram: {
    title: "The way of the water",
    turns: [{ asks: "Draw the way of the water.", reply: { content: diagram, output: [said(diagram)] } }],
  },
  longCode: {
    title: "Gauge statistics",
    turns: [{ asks: "Give me all statements.", reply: { content: longCode, output: [said(longCode)] } }],
  },
  compared: {
    title: "Oak or hornbeam",
    turns: [
      {
        asks: "Oak or hornbeam for the teeth of a gear? Answer in three points.",
        reply: { content: oak, output: [said(oak)], usage },
        beside: [
          {
            model: "river-reasoner",
            content: hornbeam,
            output: [thought("Wear, noise, price.", 7), said(hornbeam)],
          },
        ],
      },
    ],
  },
  failed: {
    title: "A question at a bad time",
    turns: [
      {
        asks: "What does millet cost today?",
        reply: {
          content: "",
          output: [],
          error: { content: "Rate limit reached for requests. Please try again in 12 s." },
        },
      },
    ],
  },
} satisfies Record<string, { title: string; turns: Turn[] }>;

export const otherTitles = [
  "Hornbeam or oak for gear teeth",
  "Letter to the water board",
  "Dressing the stones",
  "Recipe: rye sourdough",
  "Names for a cat at the mill",
  "Translate the deed of 1782",
  "Flood plan",
  "Opening hours sign",
];

/** A chat in the form that `POST /api/v1/chats/new` takes. */
export function toChat({ title, turns }: { title: string; turns: readonly Turn[] }, model: string) {
  const messages: Record<string, object> = {};
  let parentId: string | null = null;
  let at = 1_764_000_000;
  const ids = turns.map(() => [randomUUID(), randomUUID()] as const);
  for (const [index, { asks, reply, beside = [] }] of turns.entries()) {
    const [user, assistant] = ids[index] as readonly [string, string];
    const others = beside.map((other, at) => ({ id: `${assistant}-${at}`, ...other }));
    const next = ids[index + 1]?.[0];
    at += 60;
    messages[user] = {
      id: user,
      role: "user",
      content: asks,
      parentId,
      childrenIds: [assistant, ...others.map(({ id }) => id)],
      timestamp: at,
      models: [model, ...beside.map((other) => other["model"])],
    };
    for (const [place, other] of others.entries()) {
      messages[other.id] = {
        role: "assistant",
        parentId: user,
        childrenIds: [],
        timestamp: at + 20,
        modelIdx: place + 1,
        done: true,
        ...other,
      };
    }
    messages[assistant] = {
      id: assistant,
      role: "assistant",
      parentId: user,
      childrenIds: next ? [next] : [],
      timestamp: at + 20,
      model,
      modelName: model,
      modelIdx: 0,
      done: true,
      ...reply,
    };
    parentId = assistant;
  }
  return { title, models: [model], history: { currentId: parentId, messages } };
}
