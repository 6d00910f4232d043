import mermaid from "mermaid";

// Runs in a frame without an origin and without a way to the network: it draws what others wrote.

const place = document.querySelector("#diagram") as HTMLElement;
document.body.style.margin = "12px";
let count = 0;

/** The colours of the page around the frame, by the names of its tokens. */
type Colors = Readonly<
  Record<"page" | "panel" | "raised" | "line-strong" | "ink" | "soft" | "accent" | "accent-soft", string>
>;

interface Drawing {
  readonly code: string;
  readonly look: "light" | "dark";
  readonly colors: Colors;
  /** As large as its frame, however large that is; else never larger than it was laid out. */
  readonly isFree: boolean;
}

async function draw({ code, look, colors, isFree }: Drawing) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: "base",
    themeVariables: {
      darkMode: look === "dark",
      background: colors.page,
      primaryColor: colors["accent-soft"],
      primaryBorderColor: colors.accent,
      primaryTextColor: colors.ink,
      secondaryColor: colors.panel,
      secondaryTextColor: colors.ink,
      tertiaryColor: colors.raised,
      tertiaryTextColor: colors.ink,
      tertiaryBorderColor: colors["line-strong"],
      lineColor: colors.soft,
      textColor: colors.ink,
      edgeLabelBackground: colors.page,
      noteBkgColor: colors.panel,
      noteTextColor: colors.ink,
      noteBorderColor: colors["line-strong"],
      fontSize: "15px",
    },
    fontFamily: '"Inter Variable", ui-sans-serif, system-ui, sans-serif',
    maxTextSize: 50_000,
    suppressErrorRendering: true,
  });
  try {
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, withoutMarkup(code));
    place.innerHTML = svg;
    tell({ height: Math.ceil(place.getBoundingClientRect().height) + 24, drawn: measure(isFree) });
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
  }
}

/** The size at which the diagram was laid out. */
function measure(isFree: boolean): { width: number; height: number } {
  const svg = place.querySelector("svg");
  if (svg && isFree) {
    svg.style.maxWidth = "none";
    svg.style.width = "100%";
  }
  const box = svg?.viewBox.baseVal;
  return box && box.width > 0 ? { width: box.width, height: box.height } : { width: 600, height: 400 };
}

/** Labels are texts: markup with attributes in them is shown as it was written; line breaks stay. */
const withoutMarkup = (code: string) =>
  code.replaceAll(/<[a-z]+[\s/][^<>]*>/gi, (tag) =>
    /^<br\s*\/>$/i.test(tag)
      ? tag
      : tag.replaceAll("<", "#lt;").replaceAll(">", "#gt;").replaceAll('"', "#quot;"),
  );

const tell = (message: object) => parent.postMessage(message, "*");

addEventListener("message", ({ data, source }) => {
  if (source === parent && typeof data?.code === "string") {
    void draw(data);
  }
});
tell({ ready: true });
