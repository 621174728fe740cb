import type { CommandRule, ValueRule } from './completion-rules.ts';

/** Quotes a text for bash and zsh. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

interface CaseFormat {
  readonly rules: readonly CommandRule[];
  formatValue(rule: ValueRule): string;
  formatOptions(rule: CommandRule): string;
}

/**
 * Formats the part of a completion function that bash and zsh share: it finds the command before the cursor in the
 * array `line`, without the program and the current item, and completes the variable `current`.
 */
export function formatCases({ rules, formatValue, formatOptions }: CaseFormat): string {
  const paths = rules.map(({ path }) => path).filter((path) => path !== '');
  const valueFlags = rules.flatMap(({ options }) => options.filter(({ value }) => value).map(({ flag }) => flag));
  const optionCases = rules.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) =>
      value ? [`    ${quote(`${path} ${flag}`)}) ${formatValue(value)}; return ;;`] : [],
    ),
  );
  const flagCases = rules.map((rule) => `      ${quote(rule.path)}) ${formatOptions(rule)} ;;`);
  const positionCases = rules.flatMap(({ path, positions }) =>
    positions.map((rule, index) => `    ${quote(`${path} ${index}`)}) ${formatValue(rule)} ;;`),
  );
  return `  local path='' position=0 previous='' item
  for item in "\${line[@]}"; do
    case "$previous" in
      ${[...new Set(valueFlags)].join('|')}) previous=''; continue ;;
    esac
    previous="$item"
    case "$item" in
      -*) continue ;;
    esac
    item="\${path:+$path }$item"
    case "$item" in
      ${paths.map(quote).join('|')}) path="$item" ;;
      *) position=$((position + 1)) ;;
    esac
  done
  case "$path $previous" in
${optionCases.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    case "$path" in
${flagCases.join('\n')}
    esac
    return
  fi
  case "$path $position" in
${positionCases.join('\n')}
  esac`;
}
