import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Listing } from "../library/listing.ts";
import type { Notes } from "../library/notes.ts";
import {
  AccessForm,
  IdParams,
  NoteForm,
  NoteItem,
  NotePage,
  NoteRecord,
  NoteUpdate,
  PageQuery,
  SearchQuery,
} from "../schema.ts";

const access = "permission:features.notes";
/** A text of the most characters that a note holds, each escaped. */
const maxBody = 4_000_000;

/** Notes (contract §8). */
export function noteRoutes(notes: Notes, listing: Listing) {
  return [...listRoutes(listing), ...oneRoutes(notes)];
}

function listRoutes(listing: Listing) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/notes/",
        summary: "List the notes that the caller may read, newest first; 60 for each page",
        access,
        query: PageQuery,
        returns: z.array(NoteItem),
      },
      ({ caller, query }) => listing.all(caller, query.page),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/notes/pinned",
        summary: "List the notes that the caller has pinned",
        access,
        returns: z.array(NoteItem),
      },
      ({ caller }) => listing.pinned(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/notes/search",
        summary: "Search notes by the words of their titles and texts",
        access,
        query: SearchQuery,
        returns: NotePage,
      },
      ({ caller, query }) => listing.search(caller, query),
    ),
  ];
}

const one = { access, params: IdParams, returns: NoteRecord, fails: [403, 404] } as const;

function oneRoutes(notes: Notes) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/notes/create",
        summary: "Create a note",
        access,
        body: NoteForm,
        maxBody,
        returns: NoteRecord,
        fails: [400, 403, 404, 413],
        idempotent: true,
      },
      ({ caller, body }) => notes.create(caller, body),
    ),
    defineRoute(
      { ...one, method: "GET", path: "/notes/:id", summary: "Read a note as Markdown, HTML and JSON" },
      ({ caller, params }) => notes.get(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/notes/:id/update",
        summary: "Change a note; what is left out stays, and a new text is one more edit of the document",
        body: NoteUpdate,
        maxBody,
        fails: [400, 403, 404, 409, 413],
      },
      ({ caller, params, body }) => notes.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/notes/:id/access/update",
        summary: "Say who may read or write a note",
        body: AccessForm,
      },
      ({ caller, params, body }) => notes.share(caller, params.id, body.access_grants),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/notes/:id/pin",
        summary: "Pin a note for the caller, or take the pin away",
      },
      ({ caller, params }) => notes.pin(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/notes/:id/delete",
        summary: "Delete a note with its history",
        returns: z.literal(true),
      },
      ({ caller, params }) => notes.remove(caller, params.id),
    ),
  ];
}
