import type { Command } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import { setAlertUrl } from '../lib/problems/set-alert-url.ts';
import { toDisplayUrl } from '../lib/webhooks/display-url.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { getService } from './get-service.ts';

export function addAlertCommand(app: Command): void {
  app
    .command('set-alerts')
    .description(
      'Set the URL that receives the start and the end of each problem, such as an incoming webhook of Slack',
    )
    .argument('<name>')
    .argument('[url]', 'none switches alerts off')
    .addHelpText(
      'after',
      formatExamples(
        'app set-alerts my-app https://alerts.example.com/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX',
        'app set-alerts my-app',
      ),
    )
    .action(printResult(setAlertsAction));
}

async function setAlertsAction(appName: string, url = ''): Promise<CommandResult> {
  const { name } = await getApp(getService(), appName);
  await setAlertUrl(getService(), name, url);
  const text = url ? `Alerts are sent to ${toDisplayUrl(url)}, once a minute at most.` : 'Alerts are switched off.';
  return { data: { app: name, alertUrl: url ? toDisplayUrl(url) : null }, text };
}
