type Translate = (text: string, values?: Readonly<Record<string, string>>) => string;

// The first that fits counts: most browsers name others, too.
const browsers = [
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["HeadlessChrome/", "Chrome"],
  ["Chrome/", "Chrome"],
  ["Chromium/", "Chromium"],
  ["Safari/", "Safari"],
  ["curl/", "curl"],
] as const;
const systems = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["CrOS", "ChromeOS"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** A User-Agent header in words: "Firefox on Linux", in the language of `t`. What is not known is shown as it is. */
export function describeClient(client: string | null, t: Translate): string {
  if (client === null || client.trim() === "") {
    return t("Unknown program");
  }
  const browser = browsers.find(([mark]) => client.includes(mark))?.[1];
  const system = systems.find(([mark]) => client.includes(mark))?.[1];
  if (browser !== undefined && system !== undefined) {
    return t("{browser} on {system}", { browser, system });
  }
  return browser ?? client.slice(0, 60);
}
