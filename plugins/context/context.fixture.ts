import { type RunStage, isCompletion } from "#plugins/runs/runs.fixture.ts";

/** Uploads a file and waits until it is read; resolves to its id. */
export async function addFile(
  stage: RunStage,
  name: string,
  content: string,
  token = stage.user.token,
): Promise<string> {
  const body = new FormData();
  body.append("file", new Blob([content], { type: "text/plain" }), name);
  const { status, body: file } = await stage.app.call("POST /api/v1/files/?process_in_background=false", {
    token,
    body,
  });
  if (status !== 200) {
    throw new Error(`the file was not taken: ${JSON.stringify(file)}`);
  }
  return file.id as string;
}

/** Asks over HTTP; resolves to the answer and to what the model was told. */
export async function ask(stage: RunStage, body: object, token = stage.user.token) {
  const messages = [{ role: "user", content: "Who owns the sluice gate?" }];
  const seed = Math.floor(Math.random() * 2 ** 31);
  const answer = await stage.app.call("POST /api/chat/completions", {
    token,
    body: { model: "alpha", messages, seed, ...body },
  });
  const asked = stage.upstream.requests.findLast(
    (request) => isCompletion(request) && request.body?.seed === seed,
  );
  return { ...answer, told: JSON.stringify(asked?.body.messages ?? []) };
}

/** Asks in a chat and waits for the end of the reply; resolves to it and to what the model was told. */
export async function askInChat(
  stage: RunStage,
  { chat, ...body }: { chat?: { chatId: string; replyId: string } } & Record<string, unknown>,
) {
  const { chatId, replyId } = chat ?? (await stage.makeChat());
  const messages = [{ role: "user", content: "Who owns the sluice gate?" }];
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { status } = await stage.complete({ messages, chat_id: chatId, id: replyId, seed, ...body });
  await stage.ended(chatId);
  const asked = stage.upstream.requests.findLast(
    (request) => isCompletion(request) && request.body?.seed === seed,
  );
  const reply = status === 200 ? await stage.message(chatId, replyId) : undefined;
  return { status, chatId, replyId, reply, told: JSON.stringify(asked?.body.messages ?? []) };
}

export const deed = [
  ...Array.from({ length: 60 }, (_, at) => `Paragraph ${at + 1} of the deed speaks of meadows and hedges.`),
  "The sluice gate belongs to Ada Marten.",
  ...Array.from({ length: 60 }, (_, at) => `Clause ${at + 1} speaks of rents and tithes.`),
].join("\n\n");
