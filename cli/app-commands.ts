import { readFileSync } from 'node:fs';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import * as v from 'valibot';
import type { App } from '../lib/apps/app.ts';
import { createApp, getApp, rotateApiKey, setCatalogue, setStrategy, setVocabulary } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import { type Strategy, strategies } from '../lib/purchases/claims.ts';
import { parseJson } from '../lib/shared/parse.ts';
import { type Platform, platforms } from '../lib/shared/platform.ts';
import { hourMs } from '../lib/shared/time.ts';
import { vocabularies } from '../lib/shared/vocabulary.ts';
import { checkStoreSettings } from './check-store-settings.ts';
import { addWebhookCommands } from './webhook-commands.ts';

/** `app create|list|rotate-key|set-catalogue|show-catalogue|set-store|set-strategy|set-vocabulary|set-webhook|test-webhook`. */
export function createAppCommands(): Command {
  const app = new Command('app').description('Manage apps');
  app
    .command('create')
    .description('Create an app and show its API keys (shown once)')
    .argument('<name>')
    .action(createAction);
  app.command('list').description('List the apps').action(listAction);
  app
    .command('rotate-key')
    .description('Issue a new API key; the current key stays valid for the overlap')
    .argument('<name>')
    .addArgument(new Argument('<level>').choices(['public', 'secret']))
    .option('--overlap-hours <hours>', 'validity of the current key', parseHours, 24)
    .action(rotateKeyAction);
  app
    .command('set-store')
    .description(
      "Set the settings of a store from a JSON file ('-' for standard input) after the store has accepted them",
    )
    .argument('<name>')
    .addArgument(new Argument('<platform>').choices(platforms))
    .argument('<file>')
    .addOption(new Option('--skip-check', 'save the settings without a request to the store'))
    .action(setStoreAction);
  app
    .command('set-catalogue')
    .description("Set the products of an app from a JSON file ('-' for standard input); replaces the present catalogue")
    .argument('<name>')
    .argument('<file>')
    .action(setCatalogueAction);
  app
    .command('show-catalogue')
    .description('Show the products of an app as JSON')
    .argument('<name>')
    .action(showCatalogueAction);
  app
    .command('set-strategy')
    .description('Set the entitlement strategy of an app')
    .argument('<name>')
    .addArgument(new Argument('<strategy>').choices(strategies))
    .action(setStrategyAction);
  app
    .command('set-vocabulary')
    .description('Set the vocabulary of webhooks and of responses to the secret key')
    .argument('<name>')
    .addArgument(new Argument('<vocabulary>').choices(vocabularies))
    .action(setVocabularyAction);
  addWebhookCommands(app);
  return app;
}

async function createAction(name: string): Promise<void> {
  const { publicKey, secretKey } = await createApp(deps().apps, name, deps().now());
  console.log(`public key  ${publicKey}\nsecret key  ${secretKey}\nStore the secret key now. It is not shown again.`);
}

async function listAction(): Promise<void> {
  const apps = await deps().apps.list();
  for (const { name, strategy, createdAt } of apps) {
    console.log(`${name}  strategy ${strategy}  created ${new Date(createdAt).toISOString().slice(0, 10)}`);
  }
}

const maxOverlapHours = 8_760;

/** Parses a number of hours of at most a year. Throws `InvalidArgumentError`, to which commander adds the option. */
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
  const key = await rotateApiKey(deps().apps, name, { level, overlapMs: hours * hourMs, now: deps().now() });
  console.log(`new ${level} key  ${key}\nThe current key stays valid for ${hours} hours.`);
}

async function setStoreAction(
  name: string,
  platform: Platform,
  file: string,
  { skipCheck }: { skipCheck?: true },
): Promise<void> {
  const settings = readJsonFile(file);
  await getApp(deps().apps, name);
  const result = await checkStoreSettings(name, platform, { settings, callStore: !skipCheck });
  await deps().apps.setStoreSettings(name, platform, settings);
  console.log(`${result}\nSettings saved, encrypted. They take effect within 15 seconds.`);
}

/** Reads a JSON object from a file, or from standard input for `-`. */
const readJsonFile = (file: string): Readonly<Record<string, unknown>> =>
  parseJson(v.record(v.string(), v.unknown()), readFileSync(file === '-' ? 0 : file, 'utf8'));

async function setCatalogueAction(name: string, file: string): Promise<void> {
  const catalogue = await setCatalogue(deps().apps, name, readJsonFile(file));
  const count = Object.keys(catalogue).length;
  console.log(`${count} ${count === 1 ? 'product' : 'products'} saved. They take effect within 15 seconds.`);
}

async function showCatalogueAction(name: string): Promise<void> {
  await getApp(deps().apps, name);
  console.log(JSON.stringify((await deps().apps.findCatalogue(name)) ?? {}, null, 2));
}

async function setStrategyAction(name: string, strategy: Strategy): Promise<void> {
  await setStrategy(deps().apps, name, strategy);
  console.log(`${name}: strategy ${strategy}. Existing purchases change at their next update.`);
}

async function setVocabularyAction(name: string, vocabulary: App['vocabulary']): Promise<void> {
  await setVocabulary(deps().apps, name, vocabulary);
  console.log(`${name}: vocabulary ${vocabulary}. It takes effect within 15 seconds.`);
}
