import { type Command, Option } from 'commander';
import { deps } from '../lib/deps.ts';
import { ServiceError } from '../lib/shared/errors.ts';
import { parseUrls, sendTestWebhook, setWebhook } from '../lib/webhooks/manage-webhooks.ts';

interface SetOptions {
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
    .description("Sets where the application's server takes webhooks; shows the signing secret when it is issued, once")
    .argument('<name>')
    .option('--url <urls>', 'one URL, or several with commas between them')
    .addOption(new Option('--off', 'no webhooks').conflicts(['url', 'sandboxUrl']))
    .option('--sandbox-url <urls>', 'where sandbox purchases go; without it to the main URLs')
    .option('--no-password', 'leave the secret key out of the body: the server checks signatures')
    .option('--new-secret', 'issue a new signing secret; the present one ends at once')
    .action(setWebhookAction);
  app
    .command('test-webhook')
    .description('Sends a webhook of type test to every URL; one that was switched off is on again when it answers')
    .argument('<name>')
    .action(testWebhookAction);
}

async function setWebhookAction(
  name: string,
  { url = '', off, sandboxUrl = '', password, newSecret }: SetOptions,
): Promise<void> {
  const settings = { urls: parseUrls(url), sandboxUrls: parseUrls(sandboxUrl), includesPassword: password };
  if (settings.urls.length === 0 && !off)
    throw new ServiceError(
      'InvalidPayload',
      'Say where webhooks go: --url with one URL or several, or --off for none.',
    );
  const secret = await setWebhook(name, settings, { newSecret: newSecret === true, deps: deps() });
  if (secret) console.log(`signing secret  ${secret}\nKeep it now: it is not shown again.`);
  console.log('Saved. Running functions use it within 15 seconds.');
}

async function testWebhookAction(name: string): Promise<void> {
  const deliveries = await sendTestWebhook(name, deps());
  for (const { deliveryId, url } of deliveries) console.log(`${deliveryId}  ${url}`);
  console.log('On their way. Failed attempts are in: deliveries list.');
}
