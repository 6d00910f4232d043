import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { wish } from "./scripted-edit.ts";
import type { State } from "./state.ts";
import type { World } from "./world.ts";

const all = ["desk-light", "desk-dark", "phone-light", "phone-dark"] as const;
const files: Readonly<Record<string, string>> = {
  "README.md": "# Gauges\n\nReads the water level above and below the wheel.\n",
  "gauges/read.py":
    "from gauges import serial\n\nLIMIT = 210\n\n\ndef is_high(level: int) -> bool:\n    return level > LIMIT\n",
  "gauges/serial.py": "def read() -> int:\n    return 197\n",
};
let made: Promise<string> | undefined;

async function makeWorkspaces({ url, token, workspaces }: World): Promise<string> {
  const call = async (base: string, key: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const init = { method: body ? "POST" : "GET", headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(base + path, init);
    const words = await answer.text();
    if (!answer.ok) {
      throw new Error(`${path} answered ${answer.status}: ${words}`);
    }
    return JSON.parse(words) as Record<string, string>;
  };
  const at = (path: string, body?: object) => call(url, token, `/api/v1/gateway${path}`, body);
  for (const name of ["Website", "Archive of deeds"]) {
    await at("/workspaces", { name, folder: name.toLowerCase().replaceAll(" ", "-") });
  }
  const { id = "" } = await at("/workspaces", { name: "Gauges", folder: "gauges" });
  for (const [path, text] of Object.entries(files)) {
    const file = join(workspaces, "gauges", path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
  await at("/keys", { name: "Build server" });
  const { key = "" } = await at("/keys", { name: "Laptop of Ada" });
  const { url: gateway = "" } = await at("/state");
  const messages = [{ role: "user", content: wish }];
  await call(gateway, key, "/v1/chat/completions", { model: "gw/gauges", messages, stream: false });
  return id;
}

/** The folder of this run is no example for anybody. */
async function renameFolder(page: Page, { workspaces }: World): Promise<void> {
  await page.evaluate((folder) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      node.nodeValue = node.nodeValue?.replaceAll(folder, "/srv/workspaces") ?? "";
    }
  }, workspaces);
}

async function openWorkspace(page: Page, world: World): Promise<void> {
  const id = await (made ??= makeWorkspaces(world));
  await page.goto(`/admin/gateway/${id}`);
  await page.getByText("1 file changed").first().waitFor();
}

/** Folders of the server as models, and what was done in them. */
export const gatewayStates: readonly State[] = [
  {
    name: "admin-gateway",
    looks: all,
    show: async (page, world) => {
      await (made ??= makeWorkspaces(world));
      await page.goto("/admin/gateway");
      await page.getByText("Archive of deeds").first().waitFor();
      await renameFolder(page, world);
    },
  },
  {
    name: "admin-gateway-run",
    looks: all,
    show: async (page, world) => {
      await openWorkspace(page, world);
      await page.getByRole("button", { name: "Show the changes" }).click();
      await page.getByText("LIMIT = 231").first().waitFor();
    },
  },
  {
    name: "admin-gateway-files",
    looks: ["desk-light", "phone-dark"],
    show: async (page, world) => {
      await openWorkspace(page, world);
      await page.getByRole("tab", { name: "Files" }).click();
      await page.getByRole("button", { name: "README.md" }).click();
      await page.getByText("water level above").waitFor();
    },
  },
  {
    name: "admin-gateway-terminal",
    looks: ["desk-dark", "phone-light"],
    show: async (page, world) => {
      await openWorkspace(page, world);
      await page.getByRole("tab", { name: "Terminal" }).click();
      await page.getByLabel("Command", { exact: true }).fill("cat gauges/read.py; ls -l gauges; exit 4");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("exit code 4").waitFor();
    },
  },
];
