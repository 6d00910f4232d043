import { ApiError, client } from "./client.js";
import { closePages, openPages, showPage } from "./plugin-pages.js";

const $ = (id) => document.getElementById(id);
const sections = ["sign-up", "sign-in", "pending", "page", "key", "ask", "connect", "next"];
let key = "";
let isAdmin = false;

function showStatus(text, isBad = false) {
  $("status").textContent = text;
  $("status").className = isBad ? "bad" : "";
}

function show(...names) {
  for (const name of sections) {
    $(name).hidden = !names.includes(name);
  }
}

/** Runs `handle` with the form's fields; an error is shown, and the form can be sent again. */
function onSubmit(section, handle) {
  const form = $(section).querySelector("form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    const fields = Object.fromEntries(new FormData(form, event.submitter));
    buttons.forEach((button) => (button.disabled = true));
    showStatus("");
    try {
      await handle(fields);
    } catch (error) {
      showStatus(error.message, true);
    } finally {
      buttons.forEach((button) => (button.disabled = false));
    }
  });
}

async function start() {
  const config = await client.call("GET /api/config");
  document.title = config.name;
  $("name").textContent = config.name;
  const session = await client.call("GET /api/v1/auths/").catch((error) => {
    if (error.status === 401) {
      return null;
    }
    throw error;
  });
  if (session) {
    return enter(session);
  }
  $("who").hidden = true;
  $("sign-out").hidden = true;
  closePages();
  const { auth, auth_trusted_header: isVouched } = config.features;
  if (!auth || isVouched) {
    // The server signs everybody in, or a proxy has: the form would stay empty.
    return enter(await client.call("POST /api/v1/auths/signin", { body: { email: "", password: "" } }));
  }
  $("again").hidden = !config.features.enable_signup_password_confirmation;
  show(config.onboarding ? "sign-up" : "sign-in");
}

async function enter(session) {
  $("who").textContent = `${session.name} (${session.role})`;
  $("who").hidden = false;
  $("sign-out").hidden = false;
  $("base-url").textContent = `${location.origin}/api`;
  if (session.role === "pending") {
    return show("pending");
  }
  isAdmin = session.role === "admin";
  await openPages({ session, navigate });
  await showAddress();
}

/** Goes to a page of this site without loading it anew. */
function navigate(path) {
  history.pushState(null, "", path);
  return showAddress();
}

/** Shows the plugin's page of the address, or the first steps. */
async function showAddress() {
  showStatus("");
  if (showPage(location.pathname)) {
    return show("page");
  }
  if (location.pathname !== "/") {
    showStatus("There is no page here that you may open.", true);
  }
  show("key", "ask", ...(isAdmin ? ["connect"] : []), "next");
  await Promise.all([showKey(), showModels(), isAdmin ? showConnections() : undefined]);
  showExample();
}

async function showKey() {
  try {
    const known = await client.call("GET /api/v1/auths/api_key");
    $("key-state").textContent = `You have a key: ${known.api_key}. A new one replaces it.`;
  } catch (error) {
    $("key-state").textContent = error.status === 404 ? "You have no key yet." : error.message;
    $("make-key").disabled = error.status === 403;
  }
}

async function showModels() {
  const { data } = await client.call("GET /api/models");
  $("models").replaceChildren(...data.map(({ id, name }) => new Option(name, id)));
}

async function showConnections() {
  const config = await client.call("GET /compat/config");
  const items = config.OPENAI_API_BASE_URLS.map((url) => Object.assign(document.createElement("li"), { textContent: url }));
  $("connections").replaceChildren(...items);
}

/** A value inside a JSON text inside single quotes of a shell: names come from upstreams, and people paste the line. */
function toShellJson(value) {
  return JSON.stringify(value).replaceAll("'", String.raw`'\''`);
}

function showExample() {
  $("example").textContent = [
    `curl ${location.origin}/api/chat/completions \\`,
    `  -H "Authorization: Bearer ${key || "YOUR_KEY"}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"model": ${toShellJson($("models").value)}, "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join("\n");
}

async function ask({ model, question }) {
  const output = $("answer");
  output.hidden = false;
  output.textContent = "";
  const body = { model, stream: true, messages: [{ role: "user", content: question }] };
  const answer = await client.open("POST /api/chat/completions", { body });
  if (!answer.ok) {
    throw new ApiError(answer.status, await answer.json().catch(() => null));
  }
  let rest = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      const chunk = JSON.parse(line.slice(6));
      if (chunk.error) {
        throw new Error(chunk.error.message);
      }
      output.textContent += chunk.choices?.[0]?.delta?.content ?? "";
    }
  }
}

async function connect({ url, key: secret, access, action }) {
  if (action === "test") {
    const list = await client.call("POST /compat/verify", { body: { url, key: secret } });
    showStatus(`The upstream answered and offers ${list.data?.length ?? 0} models.`);
    return;
  }
  const config = await client.call("GET /compat/config");
  const urls = [...config.OPENAI_API_BASE_URLS, url];
  const configs = { ...config.OPENAI_API_CONFIGS, [urls.length - 1]: { enable: true, access } };
  await client.call("POST /compat/config/update", {
    body: {
      ENABLE_OPENAI_API: true,
      OPENAI_API_BASE_URLS: urls,
      OPENAI_API_KEYS: [...config.OPENAI_API_KEYS, secret],
      OPENAI_API_CONFIGS: configs,
    },
  });
  await client.call("GET /api/models?refresh=true");
  await Promise.all([showModels(), showConnections()]);
  showStatus("Connected. Its models are in the list above.");
}

onSubmit("sign-up", async ({ again, ...fields }) => {
  if (!$("again").hidden && again !== fields.password) {
    throw new Error("The two passwords are not the same.");
  }
  await enter(await client.call("POST /api/v1/auths/signup", { body: fields }));
});
onSubmit("sign-in", async (fields) => enter(await client.call("POST /api/v1/auths/signin", { body: fields })));
onSubmit("ask", ask);
onSubmit("connect", connect);
$("models").addEventListener("change", showExample);
$("sign-out").addEventListener("click", () => client.call("POST /api/v1/auths/signout").then(start, (error) => showStatus(error.message, true)));
$("copy-key").addEventListener("click", () => navigator.clipboard.writeText(key).then(() => showStatus("Copied.")));
$("make-key").addEventListener("click", async () => {
  try {
    key = (await client.call("POST /api/v1/auths/api_key")).api_key;
    $("key-value").textContent = key;
    $("key-shown").hidden = false;
    await showKey();
    showExample();
  } catch (error) {
    showStatus(error.message, true);
  }
});

addEventListener("popstate", () => showAddress().catch((error) => showStatus(error.message, true)));
start().catch((error) => showStatus(error.message, true));
