import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = `
from enum import Enum
from typing import Annotated
from fastapi import FastAPI, Form, Header, HTTPException, Query, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

app = FastAPI(title="Garden", version="2")

class Kind(str, Enum):
    herb = "herb"
    tree = "tree"

class Plant(BaseModel):
    name: str = Field(description="Its name", max_length=50)
    kind: Kind = Kind.herb
    height: float | None = None
    children: list["Plant"] = []

@app.post("/beds/{bed}/plants", operation_id="plant")
def plant(bed: int, plant: Plant):
    """Puts a plant into a bed."""
    if bed > 9:
        raise HTTPException(404, f"There is no bed {bed}.")
    return {"bed": bed, "plant": plant, "count": 1 + len(plant.children)}

@app.get("/plants", operation_id="find_plants")
def find(kind: Annotated[list[Kind] | None, Query()] = None, x_language: Annotated[str | None, Header()] = None):
    return {"kinds": kind, "language": x_language}

@app.post("/notes", operation_id="note")
def note(text: Annotated[str, Form()], stars: Annotated[int, Form()] = 1):
    return {"text": text, "stars": stars}

@app.get("/chart", operation_id="chart", response_class=HTMLResponse)
def chart():
    return HTMLResponse("<h1>Beds</h1>", headers={"Content-Disposition": "inline"})

@app.get("/photo", operation_id="photo")
def photo():
    import base64
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    return Response(base64.b64decode(pixel), media_type="image/png")
`;

export interface FastApiService {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the garden on a free loopback port. */
export async function startFastApi(python: string): Promise<FastApiService> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-garden-"));
  await writeFile(join(folder, "garden.py"), source);
  const port = await findFreePort();
  const args = [
    "-m",
    "uvicorn",
    "garden:app",
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--log-level",
    "warning",
  ];
  const child = spawn(python, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await isUp(`${url}/openapi.json`, ended);
  return {
    url,
    async close() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isUp(url: string, ended: Promise<void>): Promise<void> {
  const state = { isOver: false };
  void ended.then(() => (state.isOver = true));
  while (!state.isOver) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("uvicorn ended before it answered");
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
