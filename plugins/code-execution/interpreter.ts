import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { CodeInterpreter } from "#plugins/runs/service.ts";
import { type CodeSettings, toInterpreterEngine } from "./config.ts";
import { codeToolId, descriptions, usage } from "./tool.ts";

export interface InterpreterParts {
  readonly settings: CodeSettings;
  readonly tools: Pick<ToolRegistry, "select">;
}

const feature = "code_interpreter";

const builtIn = `You can run Python. Write the code between these tags, in your answer itself, without a fence around it:

<code_interpreter type="code" lang="python">
print(6 * 7)
</code_interpreter>

End your turn behind the closing tag. The code is run, and the next message brings what it printed, raised and evaluated to, as JSON with stdout, stderr and result. Then go on: answer with what you found, or mend the code and run it again. Run code wherever something has to be counted, checked or drawn, and never say what code gives before it has run.`;

/**
 * Lets models that call no tools run Python out of their text. The code goes through the tool of the others, so its
 * permission, approval and limits hold. Contract §3.2, step 7; configuration document, CODE_INTERPRETER_*.
 */
export function createInterpreter({ settings, tools }: InterpreterParts): CodeInterpreter {
  return {
    feature,
    async offer({ principal, ...run }) {
      const capabilities = (run.model.meta["capabilities"] ?? {}) as Readonly<Record<string, unknown>>;
      if (!settings.interpreterEnabled || capabilities[feature] === false) {
        return undefined;
      }
      const offered = await tools.select({ principal, toolIds: [], run });
      const tool = offered.find(({ id, approval }) => id === codeToolId && approval !== "deny");
      const template = settings.interpreterPrompt.trim() === "" ? builtIn : settings.interpreterPrompt;
      const prompt = `${template}\n\n${descriptions[toInterpreterEngine(settings)]} ${usage}`;
      return tool && { prompt, tool, languages: ["python", "py"] };
    },
  };
}
