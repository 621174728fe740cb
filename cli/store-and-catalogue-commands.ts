import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, type Command, Option } from 'commander';
import { Catalogue } from '../lib/apps/catalogue.ts';
import { findCatalogue } from '../lib/apps/catalogue-table.ts';
import { getApp, saveCatalogue } from '../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../lib/apps/store-settings-table.ts';
import { previewCatalogue } from '../lib/entitlements/preview-catalogue.ts';
import { parse } from '../lib/foundation/parse.ts';
import { type Platform, platforms } from '../lib/foundation/platform.ts';
import { setAnnouncedCatalogue } from '../lib/webhooks/announce-catalogue.ts';
import { checkStoreSettings } from './check-store-settings.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { createNumberParser, parseStore } from './option-parsers.ts';
import type { Output } from './output.ts';
import { readJsonFile } from './read-json-file.ts';
import { formatTable } from './table.ts';

export function addSettingsCommands(app: Command): void {
  app
    .command('set-store')
    .description(
      "Set the settings of a store from a JSON file ('-' for standard input) after the store has accepted them",
    )
    .argument('<name>')
    .addArgument(createStoreArgument())
    .argument('<file>')
    .addOption(new Option('--skip-check', 'save the settings without a request to the store'))
    .addHelpText('after', formatExamples('app set-store my-app apple apple.json', 'app set-store my-app store_b -'))
    .action(printResult(setStoreAction));
  app
    .command('set-catalogue')
    .description("Set the products of an app from a JSON file ('-' for standard input); replaces the current catalogue")
    .argument('<name>')
    .argument('<file>')
    .addOption(
      new Option('--preview', 'show who would gain and lose entitlements, and change nothing').conflicts('announce'),
    )
    .option('--announce', 'send a webhook to each customer who gains or loses an entitlement; run again to continue')
    .option(
      '--rate <webhooks>',
      'webhooks per second of --announce',
      createNumberParser('webhooks', { min: 1, max: 1_000 }),
      50,
    )
    .addHelpText(
      'after',
      formatExamples(
        'app set-catalogue my-app products.json --preview',
        'app set-catalogue my-app products.json',
        'app set-catalogue my-app products.json --announce --rate 20',
      ),
    )
    .action(printResult(setCatalogueAction));
  app
    .command('show-catalogue')
    .description('Show the products of an app as JSON')
    .argument('<name>')
    .addHelpText('after', formatExamples('app show-catalogue my-app > products.json'))
    .action(printResult(showCatalogueAction));
}

/** Completion offers the tokens. Brand names are accepted too. */
const createStoreArgument = (): Argument =>
  new Argument('<platform>', 'store, or its brand name such as apple').choices(platforms).argParser(parseStore);

async function setStoreAction(
  name: string,
  platform: Platform,
  file: string,
  { skipCheck }: { skipCheck?: true },
): Promise<CommandResult> {
  const settings = readJsonFile(file);
  await getApp(getService(), name);
  const check = await checkStoreSettings(name, platform, { settings, callStore: !skipCheck });
  await setStoreSettings(getService(), name, platform, settings);
  return {
    data: { app: name, platform, check },
    text: `${check}\nSettings saved, encrypted. They take effect within 15 seconds.`,
  };
}

async function setCatalogueAction(
  name: string,
  file: string,
  { preview, announce, rate }: { preview?: true; announce?: true; rate: number },
  { progress }: Output,
): Promise<CommandResult> {
  if (preview) return await previewAction(name, file, progress);
  if (announce) return await announceAction(name, file, rate, progress);
  const catalogue = await saveCatalogue(getService(), name, readJsonFile(file));
  const products = Object.keys(catalogue).length;
  return {
    data: { app: name, products },
    text: `${formatCount(products, 'product')} saved. They take effect within 15 seconds.`,
  };
}

async function announceAction(
  name: string,
  file: string,
  rate: number,
  progress: Output['progress'],
): Promise<CommandResult> {
  const reportProgress = (count: number) => progress(`${formatCount(count, 'webhook')} enqueued`);
  const wait = async (ms: number) => await sleep(ms);
  const options = { wait, rate: Math.ceil(rate), reportProgress };
  const result = await setAnnouncedCatalogue(getService(), name, readJsonFile(file), options);
  const { products, customers, webhooks } = result;
  return {
    data: { app: name, ...result },
    text: [
      `${formatCount(products, 'product')} saved. They take effect within 15 seconds.`,
      `${formatCount(customers, 'customer')} affected, ${formatCount(webhooks, 'webhook')} enqueued.`,
    ].join('\n'),
  };
}

async function previewAction(name: string, file: string, progress: Output['progress']): Promise<CommandResult> {
  const app = await getApp(getService(), name);
  const after = parse(Catalogue, readJsonFile(file));
  const before = await findCatalogue(getService(), name);
  progress('Reading purchases');
  const preview = await previewCatalogue(getService(), app, { before, after });
  const counts = Object.entries(preview.entitlements).map(([entitlement, { gains, loses }]) => ({
    entitlement,
    gains,
    loses,
  }));
  const table = formatTable(
    [
      { title: 'ENTITLEMENT', value: ({ entitlement }) => entitlement, isWhole: true },
      { title: 'GAIN', value: ({ gains }) => gains, align: 'right' },
      { title: 'LOSE', value: ({ loses }) => loses, align: 'right' },
    ],
    counts,
  );
  const customers = preview.customers.map(
    ({ applicationUsername, gains, loses }) =>
      `${applicationUsername}: ${[...gains.map((gain) => `+${gain}`), ...loses.map((loss) => `-${loss}`)].join(' ')}`,
  );
  const text = [table || 'No customer gains or loses an entitlement.', ...customers, 'Nothing was changed.'];
  return { data: { app: name, ...preview }, text: text.join('\n') };
}

async function showCatalogueAction(name: string): Promise<CommandResult> {
  await getApp(getService(), name);
  const catalogue = (await findCatalogue(getService(), name)) ?? {};
  return { data: catalogue, text: JSON.stringify(catalogue, null, 2) };
}
