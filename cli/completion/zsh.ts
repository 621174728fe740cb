import type { Candidate, CommandRule, ValueRule } from './completion-rules.ts';
import { formatCases, quote } from './shell-case.ts';

export const formatZshCompletion = (rules: readonly CommandRule[]): string => `#compdef claimcheck
# Add to ~/.zshrc, after compinit: source <(claimcheck completion zsh)
_claimcheck() {
  local current="\${words[CURRENT]}"
  local -a line candidates
  line=("\${(@)words[2,CURRENT-1]}")
${formatCases({ rules, formatValue, formatOptions })}
}
compdef _claimcheck claimcheck`;

function formatValue({ candidates, isFile }: ValueRule): string {
  if (isFile) return '_files';
  return candidates.length > 0 ? formatCandidates(candidates) : ':';
}

const formatOptions = ({ options }: CommandRule): string =>
  formatCandidates(options.map(({ flag, description }) => ({ value: flag, description })));

/** `_describe` separates a value from its description with a colon. */
const formatCandidates = (candidates: readonly Candidate[]): string =>
  `candidates=(${candidates.map(({ value, description }) => quote(`${value.replaceAll(':', '\\:')}:${description}`)).join(' ')}); _describe claimcheck candidates`;
