import { type Command, Option } from 'commander';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { parseUrls, sendTestWebhook, setWebhook } from '../lib/webhooks/manage-webhooks.ts';

interface SetWebhookOptions {
  readonly url?: string;
  readonly off?: true;
  readonly sandboxUrl?: string;
  readonly password: boolean;
  readonly newSecret?: true;
}

/** Adds `set-webhook` and `test-webhook` to the commands of `app`. */
export function addWebhookCommands(app: Command): void {
  app
    .command('set-webhook')
    .description('Set the webhook URLs of an app; a new signing secret is shown once')
    .argument('<name>')
    .option('--url <urls>', 'one or more URLs, separated by commas')
    .addOption(new Option('--off', 'switch webhooks off').conflicts(['url', 'sandboxUrl']))
    .option('--sandbox-url <urls>', 'URLs for sandbox purchases; the value of --url by default')
    .option('--no-password', 'omit the secret key from the body; the server verifies signatures')
    .option('--new-secret', 'issue a new signing secret; the current one becomes invalid immediately')
    .action(setWebhookAction);
  app
    .command('test-webhook')
    .description('Send a test webhook to all URLs; a URL that was switched off is on again if it responds')
    .argument('<name>')
    .action(testWebhookAction);
}

async function setWebhookAction(
  name: string,
  { url = '', off, sandboxUrl = '', password, newSecret }: SetWebhookOptions,
): Promise<void> {
  const settings = { urls: parseUrls(url), sandboxUrls: parseUrls(sandboxUrl), includesPassword: password };
  if (settings.urls.length === 0 && !off)
    throw new ServiceError('InvalidPayload', 'Pass --url with one or more URLs, or --off to switch webhooks off.');
  const secret = await setWebhook(name, settings, { newSecret: newSecret === true, deps: deps() });
  if (secret) console.log(`signing secret  ${secret}\nStore the signing secret now. It is not shown again.`);
  console.log('Webhook settings saved. They take effect within 15 seconds.');
}

async function testWebhookAction(name: string): Promise<void> {
  const deliveries = await sendTestWebhook(name, deps());
  for (const { deliveryId, url } of deliveries) console.log(`${deliveryId}  ${url}`);
  console.log(`${deliveries.length} deliveries enqueued. Run deliveries list to see failed attempts.`);
}
