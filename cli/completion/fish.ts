import type { CommandRule, ValueRule } from './completion-rules.ts';

export const formatFishCompletion = (
  rules: readonly CommandRule[],
): string => `# Save as ~/.config/fish/completions/claimcheck.fish
function __claimcheck_state
  set -l path
  set -l position 0
  set -l previous
  set -l items (commandline -opc)
  for item in $items[2..-1]
    if contains -- "$previous" ${listValueFlags(rules).join(' ')}
      set previous
      continue
    end
    set previous $item
    string match -q -- '-*' $item; and continue
    if contains -- (string trim "$path $item") ${rules.map(({ path }) => quote(path)).join(' ')}
      set path (string trim "$path $item")
    else
      set position (math $position + 1)
    end
  end
  echo "$path"
  echo "$path $position"
end
function __claimcheck_at
  contains -- "$argv[1]" (__claimcheck_state)
end
complete -c claimcheck -f
${rules.flatMap(formatRule).join('\n')}`;

const listValueFlags = (rules: readonly CommandRule[]): string[] => [
  ...new Set(rules.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag))),
];

const formatRule = ({ path, options, positions }: CommandRule): string[] => [
  ...positions.flatMap((rule, index) => formatPosition(`${path} ${index}`, rule)),
  ...options.map(({ flag, description, value }) =>
    [
      `complete -c claimcheck -n ${formatCondition(path)} -l ${flag.replace(/^--/, '')} -d ${quote(description)}`,
      ...(value ? [formatOptionValue(value)] : []),
    ].join(' '),
  ),
];

const formatPosition = (state: string, { candidates, isFile }: ValueRule): string[] => [
  ...(isFile ? [`complete -c claimcheck -n ${formatCondition(state)} -F`] : []),
  ...candidates.map(
    ({ value, description }) =>
      `complete -c claimcheck -n ${formatCondition(state)} -a ${quote(value)} -d ${quote(description)}`,
  ),
];

function formatOptionValue({ candidates, isFile }: ValueRule): string {
  if (isFile) return '-r -F';
  return candidates.length > 0 ? `-x -a ${quote(candidates.map(({ value }) => value).join(' '))}` : '-x';
}

const formatCondition = (state: string): string => quote(`__claimcheck_at ${quote(state)}`);

/** Formats a text as one argument of fish. */
const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
