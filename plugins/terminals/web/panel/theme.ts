import type { ITheme } from "@xterm/xterm";

/** The colours of a terminal, from the tokens of the interface. */
export function themeOf(element: Element): ITheme {
  const styles = getComputedStyle(element);
  const token = (name: string) => styles.getPropertyValue(`--color-${name}`).trim();
  const toColour = (name: string) => resolve(token(name));
  return {
    background: toColour("page"),
    foreground: toColour("ink"),
    cursor: toColour("accent"),
    cursorAccent: toColour("page"),
    selectionBackground: toColour("accent-soft"),
    red: toColour("bad"),
    green: toColour("good"),
    yellow: toColour("warning"),
    blue: toColour("info"),
  };
}

/** Tokens may be written in any form; xterm reads what a canvas makes of them. */
function resolve(colour: string): string {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null || colour === "") {
    return "#000000";
  }
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}
