import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { toolApprovers } from "#kernel/tools/approval.ts";
import { chats } from "#plugins/chats/service.ts";
import { createAnswers } from "./answers.ts";
import { createApprover } from "./approver.ts";
import { approvalVariables } from "./config.ts";
import { createApprovals } from "./migrations/0001_approvals.ts";
import { describeDecidedTools } from "./migrations/0002_decided_tools.ts";
import { createOwnerPolicyTable } from "./migrations/0003_owner_policies.ts";
import { createOwnerPolicies } from "./owner-policies.ts";
import { createQuestions } from "./questions.ts";
import { createStoredDecisions } from "./stored-decisions.ts";
import { approvalRoutes } from "./routes.ts";
import type { ApprovalTables } from "./tables.ts";

export default definePlugin({
  id: "approvals",
  title: "Approval of tool calls",
  summary: "Asks a person before a tool runs.",
  config: approvalVariables,
  uses: { access, chats, hub },
  pages: [
    {
      id: "approvals",
      path: "/admin/approvals",
      title: "Tool approvals",
      icon: "shield",
      place: "admin",
      group: "models",
      order: 26,
      access: "admin",
    },
  ],
  tables: tables<ApprovalTables>("tool_approval", "tool_approval_owner"),
  migrations: {
    "0001_approvals": createApprovals,
    "0002_decided_tools": describeDecidedTools,
    "0003_owner_policies": createOwnerPolicyTable,
  },

  setup({ config, use, db, log }) {
    const questions = createQuestions();
    const decisions = createStoredDecisions(db, use.access);
    const owners = createOwnerPolicies(db);
    const parts = { ...use, log, questions, decisions, owners, settings: config };
    return {
      routes: { api: approvalRoutes({ answers: createAnswers(parts), decisions, owners }) },
      fills: [fill(toolApprovers, createApprover(parts))],
    };
  },
});
