import { Command } from 'commander';
import { getStoredApp } from '../../lib/apps/manage-apps.ts';
import { type ExportReport, exportApp } from '../../lib/export/export-app.ts';
import { toIso } from '../../lib/foundation/time.ts';
import { type CommandResult, exitCodes, printResult } from '../command-result.ts';
import { formatExamples } from '../examples.ts';
import { formatCount } from '../format.ts';
import { formatFailedItems } from '../format-failed-items.ts';
import { getService } from '../get-service.ts';
import type { Output } from '../output.ts';
import { openExportStorage } from './open-export-storage.ts';
import { scheduleAction } from './schedule-action.ts';

interface Options {
  readonly to: string;
  readonly changes?: true;
}

/** `export`, which is short for `export now`, and `export schedule`. */
export function createExportCommand(): Command {
  const command = new Command('export').description(
    'Export purchases, transactions, customers, entitlements and credits of an app as compressed JSON lines',
  );
  command
    .command('now', { isDefault: true })
    .description('Export an app now; the default: `export <app> --to <folder>`')
    .argument('<app>')
    .requiredOption(
      '--to <folder>',
      'folder, or s3://bucket/prefix, of the exports of this app; see docs/guides/export-data.md',
    )
    .option('--changes', 'only the purchases changed since the latest export, and their customers')
    .addHelpText(
      'after',
      formatExamples(
        'export my-app --to exports/my-app',
        'export my-app --to exports/my-app --changes',
        'export my-app --to s3://my-bucket/exports/my-app',
      ),
    )
    .addHelpText('after', '\nAn interrupted export continues on the same day (UTC) after its last complete part.')
    .action(printResult(exportAction));
  command
    .command('schedule')
    .description('Let the service export an app: all rows every day, and the changes every hour')
    .argument('<app>')
    .argument(
      '[location]',
      's3://bucket/prefix, within the deployment option exportLocations; shows the schedule by default',
    )
    .option('--off', 'end the schedule')
    .addHelpText(
      'after',
      formatExamples(
        'export schedule my-app s3://my-bucket/exports/my-app',
        'export schedule my-app',
        'export schedule my-app --off',
      ),
    )
    .action(printResult(scheduleAction));
  return command;
}

async function exportAction(appName: string, { to, changes }: Options, output: Output): Promise<CommandResult> {
  const app = await getStoredApp(getService(), appName);
  const target = await openExportStorage(to);
  const report = await exportApp(getService(), app, target, {
    kind: changes ? 'changes' : 'full',
    onProgress: (table, rows) => output.progress(`${rows} ${table}`),
    signal: output.listenForInterrupt(),
  });
  return {
    data: { app: appName, folder: to, ...toRecord(report) },
    text: formatReport(to, report),
    ...(report.failed.length > 0 && { exitCode: exitCodes.failed }),
  };
}

const toRecord = ({ kind, startedAt, files, failed }: ExportReport) => ({
  kind,
  startedAt: toIso(startedAt),
  files,
  failed,
});

const formatReport = (folder: string, { files, failed }: ExportReport): string =>
  [
    ...files.map(({ path, rows }) => `${folder}/${path}: ${formatCount(rows, 'row')}`),
    ...formatFailedItems(failed),
  ].join('\n');
