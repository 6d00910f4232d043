/** What people and models say in the screenshots. */
export const question =
  "How does the water wheel of a mill turn a slow river into fast stones? Show me the arithmetic.";

export const answer = `A water wheel turns slowly but with great **torque**; gears trade that torque for speed.

## From river to stone

1. The river pushes the paddles: about 8 turns a minute.
2. The *pit wheel* on the same shaft meets the small *wallower*.
3. The *great spur wheel* drives the *stone nut*, and the stone spins.

| Stage | Teeth | Turns a minute |
|---|--:|--:|
| Water wheel | – | 8 |
| Pit wheel → wallower | 96 : 24 | 32 |
| Spur wheel → stone nut | 80 : 20 | 128 |

The power of the falling water is

$$P = \\eta\\,\\rho\\,g\\,Q\\,h$$

with $Q$ the flow and $h$ the height. For $Q = 0.5\\ \\mathrm{m^3/s}$, $h = 3\\ \\mathrm{m}$ and $\\eta = 0.65$ that is about **9.6 kW**.

> A miller hears the right speed before he sees it.

- [x] Wheel greased
- [ ] Stones dressed`;

export const code = `Here is the gear train as a small module, with its test.

\`\`\`typescript
/** Teeth of the driving and the driven wheel. */
interface Pair {
  readonly driving: number;
  readonly driven: number;
}

/** Turns a minute behind a train of gears. */
export function speedOf(input: number, train: readonly Pair[]): number {
  return train.reduce((speed, { driving, driven }) => (speed * driving) / driven, input);
}

const mill = [
  { driving: 96, driven: 24 },
  { driving: 80, driven: 20 },
] as const;

console.log(speedOf(8, mill)); // 128
\`\`\`

And the same in Python, for the workshop:

\`\`\`python
from functools import reduce

def speed_of(turns: float, train: list[tuple[int, int]]) -> float:
    """Turns a minute behind a train of gears."""
    return reduce(lambda speed, pair: speed * pair[0] / pair[1], train, turns)

assert speed_of(8, [(96, 24), (80, 20)]) == 128
\`\`\`

Run it with \`npm test\`.`;

export const diagram = `The water takes this way:

\`\`\`mermaid
flowchart LR
  River --> Race[Mill race] --> Wheel[Water wheel] --> Gears --> Stones --> Flour
\`\`\`

The overshot wheel wins where the fall is high.`;

export const longCode = `\`\`\`sql\n${Array.from({ length: 120 }, (_, n) => `select ${n + 1} as line, sum(flow) over (order by hour) from river where gauge = ${n % 7};`).join("\n")}\n\`\`\``;

export const longAnswer = Array.from(
  { length: 9 },
  (_, n) =>
    `### ${n + 1}. Part of the mill\n\nThe part number ${n + 1} is turned by the one before it and turns the next one. Its bearings want grease each week, its teeth want hornbeam, and whoever stands beside it wants a clear head.`,
).join("\n\n");

export const oak = `**Oak**, if the mill runs every day.

1. Oak is at hand and cheap: a tooth costs an hour, not a day.
2. Tannin keeps the rot away where the wheel throws water.
3. It splits under shock, so leave the teeth a finger thicker.`;

export const hornbeam = `**Hornbeam**, as millwrights chose for four hundred years.

1. It is the hardest wood north of the Alps and wears smooth.
2. Wood on iron runs *quietly*; a dry tooth sings before it breaks.
3. Keep a set of spares in the loft: one evening, one tooth.

| | Oak | Hornbeam |
|---|--:|--:|
| Hardness (kN) | 6.0 | 7.8 |
| Years in use | 8 | 15 |`;
