import { readFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import type { App } from '../lib/apps/app.ts';
import { createApp, getApp, rotateApiKey, setStrategy, setVocabulary } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import { type Strategy, strategies } from '../lib/purchases/claims.ts';
import { parseJson } from '../lib/shared/parse.ts';
import { type Platform, platforms } from '../lib/shared/platform.ts';
import { vocabularies } from '../lib/shared/vocabulary.ts';
import { checkStoreSettings } from './check-store-settings.ts';
import { addWebhookCommands } from './webhook-commands.ts';

/** `app create|list|rotate-key|set-store|set-strategy|set-vocabulary|set-webhook|test-webhook`. */
export function createAppCommands(): Command {
  const app = new Command('app').description('Applications');
  app
    .command('create')
    .description('Creates an application and shows its keys, once')
    .argument('<name>')
    .action(createAction);
  app.command('list').description('Lists the applications').action(listAction);
  app
    .command('rotate-key')
    .description('Issues a new key; the present one stays live for a while')
    .argument('<name>')
    .addArgument(new Argument('<level>').choices(['public', 'secret']))
    .option('--overlap-hours <hours>', 'how long the present key stays live', parseHours, 24)
    .action(rotateKeyAction);
  app
    .command('set-store')
    .description("Sets what a store needs to be asked, checked by a call to the store; read from a JSON file or '-'")
    .argument('<name>')
    .addArgument(new Argument('<platform>').choices(platforms))
    .argument('<file>')
    .addOption(new Option('--skip-check', 'do not ask the store whether it accepts the settings'))
    .action(setStoreAction);
  app
    .command('set-strategy')
    .description('Sets who owns a purchase that several users claim')
    .argument('<name>')
    .addArgument(new Argument('<strategy>').choices(strategies))
    .action(setStrategyAction);
  app
    .command('set-vocabulary')
    .description("Sets the words of webhooks and of answers to the secret key: the specification's or brand words")
    .argument('<name>')
    .addArgument(new Argument('<vocabulary>').choices(vocabularies))
    .action(setVocabularyAction);
  addWebhookCommands(app);
  return app;
}

async function createAction(name: string): Promise<void> {
  const { publicKey, secretKey } = await createApp(deps().apps, name, deps().now());
  console.log(`public key  ${publicKey}\nsecret key  ${secretKey}\nKeep the secret key now: it is not shown again.`);
}

async function listAction(): Promise<void> {
  const apps = await deps().apps.list();
  for (const { name, strategy, createdAt } of apps) {
    console.log(`${name}  strategy ${strategy}  created ${new Date(createdAt).toISOString().slice(0, 10)}`);
  }
}

const maxOverlapHours = 8_760;

/** Throws for what is no number of hours, or more than a year; whoever reads options then names this one. */
function parseHours(text: string): number {
  const hours = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (hours <= maxOverlapHours) return hours;
  throw new InvalidArgumentError(`Expected a number of hours from 0 to ${maxOverlapHours}.`);
}

async function rotateKeyAction(
  name: string,
  level: 'public' | 'secret',
  { overlapHours: hours }: { overlapHours: number },
): Promise<void> {
  const key = await rotateApiKey(deps().apps, name, { level, overlapMs: hours * 3_600_000, now: deps().now() });
  console.log(`new ${level} key  ${key}\nThe present one stays live for ${hours} hours.`);
}

async function setStoreAction(
  name: string,
  platform: Platform,
  file: string,
  { skipCheck }: { skipCheck?: true },
): Promise<void> {
  const settings = parseJson(v.record(v.string(), v.unknown()), readFileSync(file === '-' ? 0 : file, 'utf8'));
  await getApp(deps().apps, name);
  const result = await checkStoreSettings(name, platform, { settings, callStore: !skipCheck });
  await deps().apps.setStoreSettings(name, platform, settings);
  console.log(`${result}\nSaved, encrypted. Running functions use it within 15 seconds.`);
}

async function setStrategyAction(name: string, strategy: Strategy): Promise<void> {
  await setStrategy(deps().apps, name, strategy);
  console.log(`${name}: ${strategy}. Purchases follow at their next validation.`);
}

async function setVocabularyAction(name: string, vocabulary: App['vocabulary']): Promise<void> {
  await setVocabulary(deps().apps, name, vocabulary);
  console.log(`${name}: ${vocabulary} words. Running functions use it within 15 seconds.`);
}
