import type { Check } from './check-step.ts';
import type { Proof, StepReport } from './run-proof.ts';

interface ReportDetails {
  readonly versions: Readonly<Record<string, string>>;
  /** The store emulator took the place of the store. */
  readonly isEmulated: boolean;
  /** Path of the recording, if there is one. */
  readonly recordingFile: string | undefined;
}

/** Formats a proof as Markdown. It is without personal values: no id, name or token. */
export function formatProof(proof: Proof, { versions, isEmulated, recordingFile }: ReportDetails): string {
  const { platform, isSandbox, startedAt, endedAt, steps } = proof;
  const place = isEmulated ? 'store emulator' : isSandbox ? 'sandbox of the store' : 'production of the store';
  return [
    `# Proof of ${platform}`,
    [
      `- Store: ${platform}, ${place}`,
      `- From ${startedAt} to ${endedAt}`,
      ...Object.entries(versions).map(([name, version]) => `- ${name}: ${version}`),
      ...(recordingFile === undefined
        ? []
        : [`- Recording: ${recordingFile}, which \`npm test\` replays in \`test/recordings/\``]),
    ].join('\n'),
    `## Faults\n\n${formatFindings(proof)}`,
    `## Steps\n\n${formatTable(['Step', 'Result', 'Expectation from'], steps.map(toRow))}`,
    ...steps.filter(({ checks }) => checks.length > 0).map(formatStep),
    `## Not seen\n\n${formatUnseen(steps) || 'Nothing.'}`,
  ]
    .join('\n\n')
    .concat('\n');
}

const toRow = ({ name, result, document }: StepReport): readonly string[] => [name, result, document];

const formatFindings = ({ findings }: Proof): string =>
  findings.length === 0
    ? 'None.'
    : findings.map(({ code, problem, cure }) => `- \`${code}\`: ${problem} ${cure}`).join('\n');

const formatStep = ({ name, startedAt = '', checks }: StepReport): string =>
  `### ${name}\n\nStarted ${startedAt}.\n\n${formatTable(
    ['Check', 'Expected', 'Seen', 'After'],
    checks.map((check) => [check.what, check.expected, check.seen ?? 'no', formatTime(check)]),
  )}`;

const formatTime = ({ afterSeconds, isLate }: Check): string =>
  afterSeconds === undefined ? '' : `${afterSeconds} s${isLate ? ', late' : ''}`;

/** Lists what was not seen, one line each. */
export const formatUnseen = (steps: readonly StepReport[]): string =>
  steps
    .flatMap(({ name, result, checks }) =>
      result === 'skipped' || result === 'not reached'
        ? [`- ${name}: ${result}`]
        : checks.filter(({ isMet }) => !isMet).map(({ what, expected }) => `- ${name}: ${what} ${expected}`),
    )
    .join('\n');

const formatTable = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [titles, titles.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
