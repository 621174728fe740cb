import type { Candidate, CommandRule, ValueRule } from './completion-rules.ts';

/** Formats the completions for PowerShell 7 and Windows PowerShell. */
export const formatPowerShellCompletion = (
  rules: readonly CommandRule[],
): string => `# Add to $PROFILE: claimcheck completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName claimcheck -ScriptBlock {
  param($current, $ast, $cursor)
  $values = @{
${rules.flatMap(formatValues).join('\n')}
  }
  $options = @{
${rules.map(({ path, options }) => `    ${quote(path)} = ${formatList(options.map(({ flag, description }) => ({ value: flag, description })))}`).join('\n')}
  }
  $path = ''; $position = 0; $previous = ''
  $items = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | Select-Object -Skip 1)
  foreach ($element in $items) {
    $item = $element.ToString().Trim('''', '"')
    if ($values.ContainsKey("$path $previous")) { $previous = ''; continue }
    $previous = $item
    if ($item.StartsWith('-')) { continue }
    $longer = "$path $item".Trim()
    if ($options.ContainsKey($longer)) { $path = $longer } else { $position += 1 }
  }
  $state = if ($values.ContainsKey("$path $previous")) { "$path $previous" } else { "$path $position" }
  $found = if ($current.StartsWith('-') -and $state -eq "$path $position") { $options[$path] } else { $values[$state] }
  # Without a list, PowerShell completes the names of files.
  foreach ($pair in $found) {
    if ($pair[0] -like "$current*") {
      [System.Management.Automation.CompletionResult]::new($pair[0], $pair[0], 'ParameterValue', $pair[1])
    }
  }
}`;

/** The values of options and of positions, by the command and the flag or number before them. */
const formatValues = ({ path, options, positions }: CommandRule): string[] => [
  ...options.flatMap(({ flag, value }) => (value ? [formatValue(`${path} ${flag}`, value)] : [])),
  ...positions.map((rule, index) => formatValue(`${path} ${index}`, rule)),
];

const formatValue = (state: string, { candidates }: ValueRule): string =>
  `    ${quote(state)} = ${formatList(candidates)}`;

/** The comma makes a list of one pair a list of pairs. A tooltip must not be empty. */
const formatList = (candidates: readonly Candidate[]): string =>
  `@(${candidates.map(({ value, description }) => `,@(${quote(value)}, ${quote(description || value)})`).join('; ')})`;

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
