const ownIcons = [
  { src: "/favicon.svg", type: "image/svg+xml", sizes: "any", purpose: "any" },
  { src: "/icons/192.png", type: "image/png", sizes: "192x192", purpose: "any" },
  { src: "/icons/512.png", type: "image/png", sizes: "512x512", purpose: "any" },
  { src: "/icons/maskable-512.png", type: "image/png", sizes: "512x512", purpose: "maskable" },
];
/** One picture of unknown kind and size. */
const brandIcons = [{ src: "/favicon.svg", sizes: "any", purpose: "any" }];

/** The web app manifest of this installation; with a brand icon, that stands for it (WEBUI_FAVICON_URL). */
export function toManifest(
  name: string,
  { hasBrandIcon }: { hasBrandIcon: boolean },
): Record<string, unknown> {
  return {
    name,
    short_name: name,
    description: `${name}: chat with the models of this installation.`,
    id: "/",
    start_url: "/",
    scope: "/",
    display: "standalone",
    background_color: "#ffffff",
    theme_color: "#ffffff",
    icons: hasBrandIcon ? brandIcons : ownIcons,
  };
}

/** The description by which browsers add this installation as a search engine; `base` has no trailing slash. */
export function toOpenSearch(name: string, base: string): string {
  const safe = toXmlText(base);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">',
    `  <ShortName>${toXmlText([...name].slice(0, 16).join(""))}</ShortName>`,
    `  <Description>Ask ${toXmlText(name)}</Description>`,
    "  <InputEncoding>UTF-8</InputEncoding>",
    `  <Image width="16" height="16" type="image/svg+xml">${safe}/favicon.svg</Image>`,
    `  <Url type="text/html" method="get" template="${safe}/?q={searchTerms}"/>`,
    "</OpenSearchDescription>",
    "",
  ].join("\n");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Braces are encoded too: they would start a parameter of the template. */
function toXmlText(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign)
    .replaceAll("{", "%7B")
    .replaceAll("}", "%7D");
}
