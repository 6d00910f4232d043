// What the scripts before a start say: lines for people, or with LOG_FORMAT=json one JSON object a line, as the server does.
// Plain JavaScript with built-ins only: it runs on any Node from 20 on.
const isJson = /^\s*json\s*$/i.test(process.env.LOG_FORMAT ?? "");

/** @param {string} text @param {"info" | "fatal"} level */
export function say(text, level = "info") {
  const line = isJson
    ? JSON.stringify({ level, time: new Date().toISOString(), msg: text.replace(/ …$/, "") })
    : text;
  if (level === "fatal" && !isJson) {
    console.error(line);
  } else {
    console.log(line);
  }
}
