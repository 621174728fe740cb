import type { Command } from 'commander';
import * as v from 'valibot';
import { getApp, setExchangeRates } from '../lib/apps/manage-apps.ts';
import { parse } from '../lib/foundation/parse.ts';
import type { AppExchangeRates } from '../lib/money/rates.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { readJsonFile } from './read-json-file.ts';
import { formatTable } from './table.ts';

export function addExchangeRateCommands(app: Command): void {
  app
    .command('set-exchange-rates')
    .description("Set the rates of currencies without a reference rate from a JSON file ('-' for standard input)")
    .argument('<name>')
    .argument(
      '<file>',
      '{"rates": [{"currency": "VND", "from": "2026-01-01", "perUSD": "26300"}]}; see docs/proceeds.md',
    )
    .addHelpText('after', formatExamples('app set-exchange-rates my-app rates.json'))
    .action(printResult(setAction));
  app
    .command('show-exchange-rates')
    .description('Show the rates that the app has set')
    .argument('<name>')
    .addHelpText('after', formatExamples('app show-exchange-rates my-app'))
    .action(printResult(showAction));
}

const RatesFile = v.object({ rates: v.unknown() });

async function setAction(name: string, file: string): Promise<CommandResult> {
  await getApp(getService(), name);
  const rates = await setExchangeRates(getService(), name, parse(RatesFile, readJsonFile(file)).rates);
  return {
    data: { app: name, rates },
    text: `${formatCount(rates.length, 'rate')} saved. stats recount with --from, --to and --correct converts earlier payments.`,
  };
}

async function showAction(name: string): Promise<CommandResult> {
  const { exchangeRates = [] } = await getApp(getService(), name);
  return { data: { app: name, rates: exchangeRates }, text: formatRates(exchangeRates) };
}

const formatRates = (rates: AppExchangeRates): string =>
  formatTable(
    [
      { title: 'CURRENCY', value: ({ currency }) => currency, isWhole: true },
      { title: 'FROM', value: ({ from }) => from, isWhole: true },
      { title: 'PER USD', value: ({ perUSD }) => perUSD, align: 'right' },
    ],
    rates,
  );
