import type { Finding, Severity } from '../../lib/health/finding.ts';
import type { CheckResult, HealthReport } from '../../lib/health/run-checks.ts';
import { breakText } from '../table.ts';

const defaultWidth = 120;
const severities: readonly Severity[] = ['error', 'warning', 'note'];

/** Formats a report: findings by app, the whole service first, and errors before warnings and notes. */
export function formatReport({ findings, checks }: HealthReport, width = defaultWidth): string {
  const scopes = [...new Set(findings.map(({ app }) => app))].sort((a = '', b = '') => a.localeCompare(b));
  const groups = scopes.map((app) =>
    [
      app === undefined ? 'Service' : `App ${app}`,
      ...severities.flatMap((severity) =>
        findings
          .filter((finding) => finding.app === app && finding.severity === severity)
          .map((finding) => formatFinding(finding, width)),
      ),
    ].join('\n'),
  );
  return [...groups, ...formatRoutes(checks, width), ...formatSkipped(checks), formatSummary(findings, checks)].join(
    '\n\n',
  );
}

const formatFinding = ({ severity, code, platform, problem, cure }: Finding, width: number): string =>
  [
    `  ${severity}: ${code}${platform === undefined ? '' : ` (${platform})`}`,
    indent(problem, width),
    indent(`→ ${cure}`, width),
  ].join('\n');

const indentation = '    ';

const indent = (text: string, width: number): string =>
  breakText(text, Math.max(width, 40) - indentation.length)
    .map((line) => indentation + line)
    .join('\n');

/** Lists what the stores returned about the way of notifications to the service, by app and store. */
function formatRoutes(checks: readonly CheckResult[], width: number): string[] {
  const routes = checks.flatMap(({ app = '', platform = '', steps = [] }) =>
    steps.length === 0
      ? []
      : [
          [
            `  ${app} ${platform}`,
            ...steps.map(({ name, outcome, durationMs }) =>
              indent(`${name}: ${outcome}${durationMs > 0 ? ` (${durationMs} ms)` : ''}`, width),
            ),
          ].join('\n'),
        ],
  );
  return routes.length === 0 ? [] : [['Store notifications', ...routes].join('\n')];
}

/** Lists the checks that were not made, by reason. */
function formatSkipped(checks: readonly CheckResult[]): string[] {
  const skipped = checks.filter(({ result }) => result === 'skipped');
  if (skipped.length === 0) return [];
  const reasons = [...new Set(skipped.map(({ reason = '' }) => reason))];
  const lines = reasons.map((reason) => {
    const names = skipped.filter((check) => (check.reason ?? '') === reason).map(({ name }) => name);
    return `  ${[...new Set(names)].join(', ')}: ${reason}`;
  });
  return [['Not checked', ...lines].join('\n')];
}

function formatSummary(findings: readonly Finding[], checks: readonly CheckResult[]): string {
  const made = checks.filter(({ result }) => result === 'ok' || result === 'found').length;
  const counts = severities.map((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return `${count} ${severity}${count === 1 ? '' : 's'}`;
  });
  return `${made} of ${checks.length} checks made: ${counts.join(', ')}.`;
}
