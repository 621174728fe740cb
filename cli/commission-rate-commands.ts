import type { Command } from 'commander';
import * as v from 'valibot';
import type { SourcedCommissionRate } from '../lib/apps/commission-rate-contract.ts';
import { listCommissionRates } from '../lib/apps/commission-rates.ts';
import { getApp, setCommissionRates } from '../lib/apps/manage-apps.ts';
import { parse } from '../lib/foundation/parse.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatCount } from './format.ts';
import { getService } from './get-service.ts';
import { readJsonFile } from './read-json-file.ts';
import { formatTable } from './table.ts';

export function addCommissionRateCommands(app: Command): void {
  app
    .command('set-commission-rates')
    .description("Set the rates of commission and tax for proceeds from a JSON file ('-' for standard input)")
    .argument('<name>')
    .argument('<file>', 'rates, as GET /v3/commission-rates returns them without source; see docs/proceeds.md')
    .addHelpText('after', formatExamples('app set-commission-rates my-app rates.json'))
    .action(printResult(setAction));
  app
    .command('show-commission-rates')
    .description('Show the rates of commission and tax for proceeds with their sources')
    .argument('<name>')
    .addHelpText('after', formatExamples('app show-commission-rates my-app'))
    .action(printResult(showAction));
}

const RatesFile = v.object({ rates: v.unknown() });

async function setAction(name: string, file: string): Promise<CommandResult> {
  await getApp(getService(), name);
  const rates = await setCommissionRates(getService(), name, parse(RatesFile, readJsonFile(file)).rates);
  return {
    data: { app: name, rates },
    text: `${formatCount(rates.length, 'rate')} saved. They apply to payments that are recorded from now on.`,
  };
}

async function showAction(name: string): Promise<CommandResult> {
  const { commissionRates } = await getApp(getService(), name);
  const rates = listCommissionRates(commissionRates);
  return { data: { rates }, text: formatRates(rates) };
}

const formatRates = (rates: readonly SourcedCommissionRate[]): string =>
  formatTable(
    [
      { title: 'SOURCE', value: ({ source }) => source, isWhole: true },
      { title: 'STORE', value: ({ platform }) => platform, isWhole: true },
      { title: 'FROM', value: ({ from }) => from, isWhole: true },
      { title: 'SALE', value: ({ sale }) => sale ?? 'all' },
      { title: 'PAID DAYS', value: ({ minPaidDays }) => minPaidDays ?? 0, align: 'right' },
      { title: 'COMMISSION %', value: ({ commissionPercent }) => commissionPercent, align: 'right' },
      { title: 'TAX %', value: ({ taxPercent }) => taxPercent ?? 0, align: 'right' },
      { title: 'COUNTRIES', value: ({ countries }) => countries?.join(' ') ?? 'all' },
    ],
    rates,
  );
