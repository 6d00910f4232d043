import type { ITheme } from "@xterm/xterm";

/** The colours of a terminal, from the tokens of the interface. */
export function themeOf(element: Element): ITheme {
  return toTheme((name) => {
    // One of its own for each colour: a second colour of the same element would begin as a transition from the first.
    const probe = element.appendChild(document.createElement("span"));
    probe.style.color = `var(--${name})`;
    const colour = toHex(getComputedStyle(probe).color);
    probe.remove();
    return colour;
  });
}

function toTheme(toColour: (name: string) => string): ITheme {
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

/** Colours are computed in any form; xterm reads what a canvas makes of them. */
function toHex(colour: string): string {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) {
    return "#000000";
  }
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}
