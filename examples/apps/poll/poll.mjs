// oxlint-disable node/no-process-env, no-console -- a program of its own, without the host's settings and log
// A poll in a channel, as an app: `@Poll Lunch? | Pizza | Soup` asks, reactions vote, `@Poll close` in the thread counts.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const server = (process.env.MILLRACE_URL ?? "http://127.0.0.1:8080").replace(/\/$/, "");
const key = process.env.APP_KEY ?? "";
const secret = process.env.APP_SECRET ?? "";
const port = Number(process.env.PORT ?? 8095);

const numbers = ["1️⃣", "2️⃣", "3️⃣", "4️⃣", "5️⃣", "6️⃣", "7️⃣", "8️⃣"];
const mostBytes = 1024 * 1024;
/** Seconds that a post may be old: an older one was recorded and sent again. */
const mostAge = 300;
/** Ids of events that were taken: a retry of one must not ask twice. */
const taken = new Set();

const manifest = {
  name: "Poll",
  description: "Asks the channel. Write: @Poll Lunch? | Pizza | Soup",
  url: "/events",
  scopes: ["messages:read", "messages:write", "reactions:write"],
  events: ["app.mentioned", "app.added"],
};

/** True for a post that the server signed just now (Standard Webhooks). */
function isGenuine(headers, body) {
  const { "webhook-id": id = "", "webhook-timestamp": at = "", "webhook-signature": given = "" } = headers;
  if (secret === "" || Math.abs(Date.now() / 1000 - Number(at)) > mostAge) {
    return false;
  }
  const mac = createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
  const expected = Buffer.from(`v1,${mac.update(`${id}.${at}.${body}`).digest("base64")}`);
  const shown = Buffer.from(given);
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}

async function call(method, path, body) {
  const answer = await fetch(`${server}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status}: ${await answer.text()}`);
  }
  return await answer.json();
}

const post = (channel, content, parent) =>
  call("POST", `/channels/${channel.id}/messages/post`, { content, ...(parent && { parent_id: parent }) });

async function ask(channel, question, choices) {
  const lines = choices.map((choice, index) => `${numbers[index]} ${choice}`);
  const { id } = await post(channel, [`**${question}**`, "", ...lines.map((line) => `- ${line}`)].join("\n"));
  for (const [index] of choices.entries()) {
    await call("POST", `/channels/${channel.id}/messages/${id}/reactions/add`, { name: numbers[index] });
  }
}

async function close(channel, pollId, me) {
  const poll = await call("GET", `/channels/${channel.id}/messages/${pollId}`);
  const choices = poll.user_id === me ? [...poll.content.matchAll(/^- (\S+) (.+)$/gm)] : [];
  if (choices.length === 0) {
    await post(channel, "Close a poll in its own thread.", pollId);
    return;
  }
  const lines = choices.map(([, name, choice]) => {
    const reaction = poll.reactions.find((one) => one.name === name);
    // The app's own reaction is the button, no vote.
    const votes = reaction?.users.filter(({ id }) => id !== me).length ?? 0;
    return { choice, votes };
  });
  lines.sort((one, other) => other.votes - one.votes);
  await post(
    channel,
    ["Result:", ...lines.map(({ choice, votes }) => `- ${choice}: ${votes}`)].join("\n"),
    pollId,
  );
}

async function handle({ event, data }) {
  const { app, channel, message } = data;
  if (event === "app.added") {
    await post(channel, "Hello! Ask the channel: `@Poll Lunch? | Pizza | Soup`");
  }
  if (event !== "app.mentioned") {
    return;
  }
  const text = message.content.replaceAll(`<@U:${app.user_id}|${app.name}>`, "").trim();
  if (/^close$/i.test(text) && message.parent_id) {
    await close(channel, message.parent_id, app.user_id);
    return;
  }
  const [question = "", ...choices] = text.split("|").map((part) => part.trim());
  if (question === "" || choices.length < 2 || choices.length > numbers.length || choices.includes("")) {
    await post(
      channel,
      "Write a question and two to eight answers: `@Poll Lunch? | Pizza | Soup`",
      message.parent_id,
    );
    return;
  }
  await ask(channel, question, choices);
}

async function take(request, response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > mostBytes) {
      response.writeHead(413).end();
      return;
    }
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks).toString();
  if (!isGenuine(request.headers, body)) {
    response.writeHead(401).end();
    return;
  }
  // Answered before the work: the server waits five seconds.
  response.writeHead(204).end();
  const id = request.headers["webhook-id"];
  if (!taken.has(id)) {
    taken.add(id);
    if (taken.size > 1000) {
      taken.delete(taken.values().next().value);
    }
    await handle(JSON.parse(body));
  }
}

createServer((request, response) => {
  if (request.method === "GET" && request.url === "/manifest.json") {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(manifest));
  } else if (request.method === "POST" && request.url === "/events") {
    take(request, response).catch((error) => console.error(error.message));
  } else {
    response.writeHead(404).end();
  }
}).listen(port, "127.0.0.1", function () {
  console.log(`Manifest: http://127.0.0.1:${this.address().port}/manifest.json`);
});
