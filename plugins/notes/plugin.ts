import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { events, grants, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { GRANTS_CHANNEL } from "#storage/grants.ts";
import { accounts, explainedResources } from "#plugins/accounts/service.ts";
import { chats } from "#plugins/chats/service.ts";
import { contextItems, contextSources } from "#plugins/completions/service.ts";
import { fileReferences, files } from "#plugins/files/service.ts";
import { modelReferences, models } from "#plugins/models/service.ts";
import { guardedRooms } from "#plugins/realtime/service.ts";
import { noteVariables } from "./config.ts";
import { createModelReferences, createNoteContext, createNoteItems } from "./context.ts";
import { createHistory } from "./library/history.ts";
import { createListing } from "./library/listing.ts";
import { createNoteChats } from "./library/note-chats.ts";
import { existingNotes, findHead, findNote } from "./library/note-store.ts";
import { createNoteActions } from "./library/notes.ts";
import { createDocuments } from "./live/documents.ts";
import { createNoteSockets } from "./live/sockets.ts";
import { createNotes } from "./migrations/0001_notes.ts";
import { createIsOpen, type NoteHead } from "./parts.ts";
import { explainNotes, toFileReference } from "./references.ts";
import { editRoutes } from "./routes/edits.ts";
import { historyRoutes, noteChatRoutes } from "./routes/history.ts";
import { noteRoutes } from "./routes/notes.ts";
import { type NoteRow, type NoteTables, resourceType } from "./tables.ts";
import { createNoteTools } from "./tools.ts";

export default definePlugin({
  id: "notes",
  title: "Notes",
  summary: "Texts that people write, alone and together, and that models read and write.",
  config: noteVariables,
  uses: { access, accounts, chats, events, files, grants, hub, models, notices },
  tables: tables<NoteTables>(
    "note",
    "pinned_note",
    "note_document",
    "note_update",
    "note_version",
    "note_file",
    "note_chat",
  ),
  migrations: { "0001_notes": createNotes },
  permissions: [{ path: "features.notes", default: true }],
  resources: [resourceType],
  pages: [
    {
      id: "notes.list",
      path: "/notes",
      title: "Notes",
      icon: "note",
      place: "main",
      order: 30,
      access: "permission:features.notes",
    },
    {
      id: "notes.note",
      path: "/notes/:id",
      title: "Note",
      place: "hidden",
      access: "permission:features.notes",
    },
  ],
  enabled: (config) => config.enabled,

  setup({ config, use, db, transaction, log }) {
    const loading = { type: resourceType, ownerOf: (row: NoteHead) => row.user_id };
    const parts = {
      ...use,
      db,
      transaction,
      log,
      isOpen: createIsOpen(() => config.enabled),
      notes: use.access.loader<NoteRow>({ ...loading, find: (id) => findNote(db, id) }),
      heads: use.access.loader<NoteHead>({ ...loading, find: (id) => findHead(db, id) }),
    };
    const documents = createDocuments(parts);
    const notes = createNoteActions(parts, documents);
    const listing = createListing(parts);
    const { sockets, guard } = createNoteSockets(parts, documents);
    return {
      routes: {
        api: [
          ...noteRoutes(notes, listing),
          ...editRoutes(parts, documents),
          ...historyRoutes(createHistory(parts, { documents, notes })),
          ...noteChatRoutes(createNoteChats(parts)),
        ],
      },
      sockets,
      tools: [createNoteTools({ parts, notes, listing })],
      fills: [
        fill(contextSources, createNoteContext(parts, notes)),
        fill(contextItems, createNoteItems(parts)),
        fill(modelReferences, createModelReferences(parts)),
        fill(fileReferences, toFileReference(parts)),
        fill(explainedResources, explainNotes(parts)),
        fill(guardedRooms, guard),
      ],
      jobs: [
        {
          id: "notes.settle",
          title: "Saves notes whose editors left",
          every: 15,
          run: () => documents.settleStale(),
        },
      ],
      resources: { [resourceType]: (ids: readonly string[]) => existingNotes(db, ids) },
      async start() {
        const renew = () => void use.hub.renewRooms();
        await use.notices.listen(
          GRANTS_CHANNEL,
          (change) => {
            const type = (change as { type?: string | null } | null)?.type ?? undefined;
            if (type === undefined || type === resourceType) {
              renew();
            }
          },
          renew,
        );
      },
      stop: () => documents.stop(),
    };
  },
});
