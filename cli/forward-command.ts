import { type Command, InvalidArgumentError } from 'commander';
import { getApp } from '../lib/apps/manage-apps.ts';
import type { Forward } from '../lib/forwards/forward.ts';
import { saveForwards } from '../lib/forwards/manage-forwards.ts';
import { parsePlatform } from '../lib/foundation/vocabulary.ts';
import { ensureSigningSecret } from '../lib/webhooks/manage-webhooks.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';

export function addForwardCommand(app: Command): void {
  app
    .command('set-forwards')
    .description('Set the URLs that receive the notifications of the stores as they came; none switches forwards off')
    .argument('<name>')
    .argument('[urls...]', 'at most five URLs, each with an optional list of stores: store_a,store_b=https://…')
    .option('--authorization', 'send the Authorization header of the store, which Google Play uses')
    .addHelpText(
      'after',
      formatExamples(
        'app set-forwards my-app apple=https://other.example.com/apple',
        'app set-forwards my-app https://example.com/stores',
        'app set-forwards my-app',
      ),
    )
    .action(printResult(setForwardsAction));
}

async function setForwardsAction(
  name: string,
  urls: readonly string[],
  { authorization }: { readonly authorization?: true },
): Promise<CommandResult> {
  await getApp(getService(), name);
  const requested = urls.map((text) => ({
    ...parseForward(text),
    ...(authorization && { includesAuthorization: true }),
  }));
  const forwards = await saveForwards(getService(), name, requested);
  const secret = forwards.length > 0 ? await ensureSigningSecret(getService(), name) : undefined;
  const saved = `${formatCount(forwards.length, 'forward')} saved. They take effect within 15 seconds.`;
  return {
    data: { app: name, forwards, ...(secret && { signingSecret: secret }) },
    text: secret ? `signing secret  ${secret}\nStore the signing secret now. It is not shown again.\n${saved}` : saved,
  };
}

/** Parses `url`, or `platform,platform=url`. A URL can contain an equals sign, but not before its colon. */
function parseForward(text: string): Forward {
  const [, list, url = text] = /^([\w,]+)=(.+)$/.exec(text) ?? [];
  if (list === undefined) return { url };
  const platforms = list.split(',').map((token) => {
    const platform = parsePlatform(token);
    if (!platform) throw new InvalidArgumentError(`The store ${token} is unknown.`);
    return platform;
  });
  return { url, platforms };
}
