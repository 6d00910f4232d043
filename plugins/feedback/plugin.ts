import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { configuration, events, notices } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { chats } from "#plugins/chats/service.ts";
import { type AnswerRows, answerRows } from "./answers.ts";
import { createFeedbackActions } from "./feedback.ts";
import { openLeaderboard } from "./leaderboard.ts";
import { createFeedback } from "./migrations/0001_feedback.ts";
import { adminRoutes } from "./routes/admin.ts";
import { ownRoutes } from "./routes/own.ts";
import type { FeedbackTables } from "./tables.ts";

export default definePlugin({
  id: "feedback",
  title: "Feedback",
  summary: "Ratings of replies.",
  uses: { access, accounts, chats, configuration, events, notices },
  tables: tables<FeedbackTables>("feedback"),
  migrations: { "0001_feedback": createFeedback },
  pages: [
    {
      id: "feedback.evaluations",
      path: "/admin/evaluations",
      title: "Evaluations",
      icon: "chart",
      place: "admin",
      group: "reports",
      order: 35,
      access: "admin",
    },
  ],

  async setup({ db, use }) {
    // The settings belong to a plugin that may be left out; nothing is switched off then.
    const isOn = (name: string) => use.configuration.valueOr(name, true) === true;
    const leaderboard = await openLeaderboard(db, use.notices);
    const isOpen = () => isOn("ENABLE_MESSAGE_RATING");
    const feedback = createFeedbackActions({ ...use, db, leaderboard, isOpen });
    const answer: AnswerRows = (reading) => answerRows(db, reading);
    // The database takes an account's feedback along.
    use.events.on("user.deleted", () => leaderboard.changed());
    return {
      routes: {
        api: [
          ...ownRoutes(feedback, answer),
          ...adminRoutes({
            answerRows: answer,
            feedback,
            leaderboard,
            mayExport: () => isOn("ENABLE_ADMIN_EXPORT"),
          }),
        ],
      },
    };
  },
});
