import { Argument, Command } from 'commander';
import { type CommandResult, printResult } from '../command-result.ts';
import { formatExamples } from '../examples.ts';
import { formatBashCompletion } from './bash.ts';
import { listCompletionRules } from './completion-rules.ts';
import { formatFishCompletion } from './fish.ts';
import { formatPowerShellCompletion } from './powershell.ts';
import { formatZshCompletion } from './zsh.ts';

const formats = {
  bash: formatBashCompletion,
  zsh: formatZshCompletion,
  fish: formatFishCompletion,
  powershell: formatPowerShellCompletion,
} as const;
type Shell = keyof typeof formats;

export const createCompletionCommand = (): Command => {
  const completion = new Command('completion');
  return completion
    .description('Print the script that completes commands in a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(formats)))
    .addHelpText(
      'after',
      formatExamples('completion bash', 'completion zsh', 'completion fish', 'completion powershell'),
    )
    .action(printResult(async (shell: Shell) => await buildScript(shell, completion.parent ?? completion)));
};

async function buildScript(shell: Shell, program: Command): Promise<CommandResult> {
  const script = formats[shell](listCompletionRules(program));
  return { data: { shell, script }, text: script };
}
