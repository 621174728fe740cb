import { type Command, InvalidArgumentError, Option } from 'commander';
import { type WebhookEvent, webhookEvents } from '../lib/api/schemas.ts';
import { getApp } from '../lib/apps/manage-apps.ts';
import { hourMs } from '../lib/foundation/time.ts';
import { parseUrls, saveWebhook, sendTestWebhook } from '../lib/webhooks/manage-webhooks.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { parseHours } from './option-parsers.ts';
import type { Output } from './output.ts';
import { formatTable } from './table.ts';

interface SetWebhookOptions {
  readonly url?: string;
  readonly off?: true;
  readonly sandboxUrl?: string;
  readonly password: boolean;
  readonly newSecret?: true;
  readonly rotateSecret?: true;
  readonly overlapHours: number;
  readonly events?: readonly WebhookEvent[];
}

export function addWebhookCommands(app: Command): void {
  app
    .command('set-webhook')
    .description('Set the webhook URLs of an app; a new signing secret is shown once')
    .argument('<name>')
    .option('--url <urls>', 'one or more URLs, separated by commas')
    .addOption(new Option('--off', 'switch webhooks off').conflicts(['url', 'sandboxUrl']))
    .option('--sandbox-url <urls>', 'URLs for sandbox purchases; the value of --url by default')
    .option('--no-password', 'omit the secret key from the body; the server verifies signatures')
    .addOption(
      new Option(
        '--events <events>',
        `events other than purchase changes: ${webhookEvents.join(', ')}, or none`,
      ).argParser(parseEvents),
    )
    .option('--new-secret', 'issue a new signing secret; the current one becomes invalid immediately')
    .option('--rotate-secret', 'issue a new signing secret; webhooks have signatures of both for the overlap')
    .option('--overlap-hours <hours>', 'time for which --rotate-secret keeps the current one', parseHours, 24)
    .addHelpText(
      'after',
      formatExamples(
        'app set-webhook my-app --url https://example.com/purchases --no-password',
        'app set-webhook my-app --events refunds',
        'app set-webhook my-app --rotate-secret --overlap-hours 48',
        'app set-webhook my-app --off',
      ),
    )
    .action(printResult(setWebhookAction));
  app
    .command('test-webhook')
    .description('Send a test webhook to all URLs; a URL that was switched off is on again if it responds')
    .argument('<name>')
    .addHelpText('after', formatExamples('app test-webhook my-app'))
    .action(printResult(testWebhookAction));
}

async function setWebhookAction(
  name: string,
  { url = '', off, sandboxUrl = '', password, newSecret, rotateSecret, overlapHours, events }: SetWebhookOptions,
): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const keepsUrls = (events !== undefined || newSecret || rotateSecret) && url === '' && !off;
  const entered = { urls: parseUrls(url), sandboxUrls: parseUrls(sandboxUrl), includesPassword: password };
  const { urls } = (keepsUrls && app.webhookSettings) || entered;
  const settings = { ...(!keepsUrls && entered), ...(events && { events: [...events] }) };
  if (urls.length === 0 && !off)
    throw new InvalidArgumentError('Pass --url with one or more URLs, or --off to switch webhooks off.');
  const secret = await saveWebhook(getService(), name, settings, {
    newSecret: newSecret === true || rotateSecret === true,
    overlapMs: newSecret ? 0 : overlapHours * hourMs,
  });
  const overlap = rotateSecret && !newSecret ? ` Webhooks have both signatures for ${overlapHours} hours.` : '';
  const saved = `Webhook settings saved. They take effect within 15 seconds.${overlap}`;
  const { webhookSettings } = await getApp(getService(), name);
  return {
    data: { app: name, ...webhookSettings, ...(secret && { signingSecret: secret }) },
    text: secret ? `signing secret  ${secret}\nStore the signing secret now. It is not shown again.\n${saved}` : saved,
  };
}

/** Parses names such as `refunds,consents`, or `none` to switch all of them off. */
function parseEvents(text: string): readonly WebhookEvent[] {
  if (text === 'none') return [];
  return text.split(',').map((name) => {
    const event = webhookEvents.find((known) => known === name.trim());
    if (event === undefined) throw new InvalidArgumentError(`Pass ${webhookEvents.join(', ')} or none.`);
    return event;
  });
}

async function testWebhookAction(name: string, { width }: Output): Promise<CommandResult> {
  const deliveries = (await sendTestWebhook(getService(), name)).map(({ deliveryId, url }) => ({
    id: deliveryId,
    url,
  }));
  const table = formatTable(
    [
      { title: 'ID', value: ({ id }) => id, isWhole: true },
      { title: 'URL', value: ({ url }) => url },
    ],
    deliveries,
    width,
  );
  return {
    data: { app: name, deliveries },
    text: `${table}\n${formatCount(deliveries.length, 'delivery', 'deliveries')} enqueued, each for one attempt. Run webhooks list to see the results.`,
  };
}
