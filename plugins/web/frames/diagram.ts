import mermaid from "mermaid";

// Runs in a frame without an origin and without a way to the network: it draws what others wrote.

const place = document.querySelector("#diagram") as HTMLElement;
document.body.style.margin = "12px";
let count = 0;

/** The colours of the page around the frame, by the names of its tokens. */
type Colors = Readonly<
  Record<"page" | "panel" | "raised" | "line-strong" | "ink" | "soft" | "accent" | "accent-soft", string>
>;

async function draw({ code, look, colors }: { code: string; look: "light" | "dark"; colors: Colors }) {
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
  });
  try {
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, withoutMarkup(code));
    place.innerHTML = svg;
    tell({ height: Math.ceil(place.getBoundingClientRect().height) + 24 });
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
  }
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
