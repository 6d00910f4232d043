/** SGR sequences, and at the end of a text one that may go on in the next. */
const escape = "\u001b";
const sequence = new RegExp(String.raw`${escape}\[([\d;:]*)m`, "g");
const unfinished = new RegExp(String.raw`${escape}(?:\[[\d;:]{0,200})?$`);
/** The steps of the 6 × 6 × 6 colours that every terminal of 256 has from 16 on. */
const steps = [0, 95, 135, 175, 215, 255];

/**
 * Puts the nearest of 256 colours in place of 24-bit ones: xterm writes those into style attributes, which the policy
 * of the interface forbids. Texts come in pieces; what may be the begin of a sequence waits for the next piece.
 */
export function createColourFilter(): (piece: string) => string {
  let held = "";
  return (piece) => {
    const text = held + piece;
    held = unfinished.exec(text)?.[0] ?? "";
    const whole = held === "" ? text : text.slice(0, -held.length);
    return whole.replaceAll(sequence, (_all, codes: string) => `${escape}[${toIndexed(codes)}m`);
  };
}

/** Both forms are written: `38;2;r;g;b` by most programs, `38:2::r:g:b` by those that follow the standard. */
function toIndexed(codes: string): string {
  return codes
    .replaceAll(
      /\b([34]8);2;(\d{1,3});(\d{1,3});(\d{1,3})/g,
      (_all, ground: string, ...parts: string[]) => `${ground};5;${nearest(parts)}`,
    )
    .replaceAll(
      /\b([34]8):2:(?:\d*:)?(\d{1,3}):(\d{1,3}):(\d{1,3})/g,
      (_all, ground: string, ...parts: string[]) => `${ground}:5:${nearest(parts)}`,
    );
}

function nearest(parts: readonly string[]): number {
  const [red = 0, green = 0, blue = 0] = parts.slice(0, 3).map((part) => {
    const value = Math.min(255, Number(part));
    const distances = steps.map((step) => Math.abs(step - value));
    return distances.indexOf(Math.min(...distances));
  });
  return 16 + 36 * red + 6 * green + blue;
}
