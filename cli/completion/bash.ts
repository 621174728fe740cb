import type { Candidate, CommandRule, ValueRule } from './completion-rules.ts';
import { formatCases, quote } from './shell-case.ts';

export const formatBashCompletion = (
  rules: readonly CommandRule[],
): string => `# Add to ~/.bashrc: source <(claimcheck completion bash)
_claimcheck() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  local line=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()
${formatCases({ rules, formatValue, formatOptions })}
}
complete -F _claimcheck claimcheck`;

function formatValue({ candidates, isFile }: ValueRule): string {
  if (isFile) return 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$current"))';
  return candidates.length > 0 ? formatCandidates(candidates.map(({ value }: Candidate) => value)) : ':';
}

const formatOptions = ({ options }: CommandRule): string => formatCandidates(options.map(({ flag }) => flag));

const formatCandidates = (values: readonly string[]): string =>
  `COMPREPLY=($(compgen -W ${quote(values.join(' '))} -- "$current"))`;
