import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import type { Script } from "#test/support/upstream-exchange.ts";
import { makePieces, paced } from "#test/support/upstream-paced.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";

type Said = readonly { readonly role: string; readonly content: unknown }[];

const calls = (name: string, ...args: readonly object[]): Script =>
  sse(
    toolCallChunks(args.map((one, at) => ({ id: `call_${at + 1}`, name, arguments: JSON.stringify(one) }))),
  );

const reports = [
  "Read the report about the wheel and say what has to be repaired first",
  "Read the report about the weir and name its risks",
];
const prices = "Compare what oak and larch cost at the four sawmills of the valley";

/** A model that gives tasks to others, or sets timers; undefined for other conversations. */
export function toDelegating({ messages }: { messages: Said }): Script | undefined {
  const first = String(messages.find(({ role }) => role === "user")?.content);
  const { role, content } = messages.at(-1)!;
  const last = String(content);
  if (reports.some((task) => first.startsWith(task))) {
    return text("Two of the twelve paddles are cracked and have to be replaced first.");
  }
  if (first.startsWith(prices)) {
    return paced(makePieces(2_000), { every: 50 });
  }
  if (first.startsWith("Let sub-agents")) {
    return role === "user"
      ? calls("delegate_task", ...reports.map((task) => ({ task })), { task: prices, background: true })
      : text(
          "Both reports agree: replace **two paddles** before the autumn floods. I go on when the prices are there.",
        );
  }
  if (first.startsWith("Keep an eye")) {
    if (last.includes("The timer")) {
      return text(
        "The race stands at **1.18 m**, four centimetres more than before. The next look is at eight.",
      );
    }
    return role === "user"
      ? calls(
          "timer",
          { prompt: "Look at the level of the mill race once more", at: "3s" },
          { prompt: "Ask whether the sluice was closed", at: "45m", cancel_on: ["chat.user_message"] },
          { prompt: "Tell Ada to order the larch for the paddles", at: "20h" },
        )
      : text("I look at the race again in a moment, and remind you of the sluice and of the wood.");
  }
  return undefined;
}
