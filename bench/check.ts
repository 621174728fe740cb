import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './bench-result.ts';
import {
  type BudgetKind,
  type BudgetResult,
  bundleBudgets,
  type CheckName,
  compareOperations,
  compareWithBudget,
  dollarBudgets,
  idleBudget,
  memoryBudget,
  readUnitBudgets,
  startBudgets,
  summarizeBudgets,
  tableCallBudgets,
  writeUnitBudgets,
} from './budgets.ts';
import { measureCosts } from './cost.ts';
import type { MemoryUse } from './memory.ts';
import { type Bundle, measureStartTimes, withBundles } from './start-times.ts';

/**
 * Measures what the budgets limit. Returns the figures, and a sentence about them. `kind` selects the budgets of units,
 * costs and starts.
 */
export async function checkBudgets(checks: readonly CheckName[], kind: BudgetKind) {
  const results: BudgetResult[] = [];
  if (checks.includes('bundles') || checks.includes('start')) results.push(...(await checkStarts(checks, kind)));
  if (checks.includes('units') || checks.includes('cost')) results.push(...(await checkCosts(checks, kind)));
  if (checks.includes('memory')) results.push(...(await checkMemory()));
  const table: BenchResult = {
    title: 'Budgets',
    rows: results.map(({ check, name, unit, budget, measured, isMet, interval = '' }) => ({
      check,
      name,
      unit,
      budget,
      measured: Number(measured.toFixed(2)),
      'distance %': Math.round((100 * (measured - budget)) / budget),
      '90 % interval': interval,
      met: isMet ? 'yes' : 'no',
    })),
  };
  return { table, areAllMet: results.every(({ isMet }) => isMet), summary: summarizeBudgets(results) };
}

type FunctionGroup = keyof (typeof startBudgets)['limits'];

/** Returns the group of a function that starts have a budget for. Undefined for endpoints that change something. */
export function getFunctionGroup(name: string): FunctionGroup | undefined {
  if (name === 'workers/export-apps') return 'exports';
  if (name === 'validation/validate-receipt') return 'validate-receipt';
  if (name.startsWith('workers/')) return 'workers';
  return /^(customers|purchases|transactions|stats|events)\/(get|list|search)-/.test(name) ? 'reads' : undefined;
}

async function checkStarts(checks: readonly CheckName[], kind: BudgetKind): Promise<BudgetResult[]> {
  return await withBundles(async (bundles) => {
    const { base } = bundles;
    const results: BudgetResult[] = [];
    const addAll = (toResult: (bundle: Bundle, group: FunctionGroup) => BudgetResult | undefined) => {
      for (const bundle of bundles.functions) {
        const group = getFunctionGroup(bundle.name);
        const result = group && toResult(bundle, group);
        if (result) results.push(result);
      }
    };
    if (checks.includes('bundles')) {
      const compare = (figure: 'size' | 'files', read: (bundle: Bundle) => number, unit: string) =>
        addAll((bundle, group) =>
          compareWithBudget({
            check: 'bundles',
            name: bundle.name,
            unit,
            budget: bundleBudgets[figure][group],
            measured: read(bundle) / read(base),
          }),
        );
      compare('size', ({ bytes }) => bytes, 'times the size of the bare client');
      compare('files', ({ files }) => files, 'times the files of the bare client');
    }
    if (checks.includes('start')) {
      const times = await measureStartTimes(bundles, ({ name }) => getFunctionGroup(name) !== undefined);
      addAll((bundle, group) => {
        const time = times.get(bundle.name);
        return (
          time && {
            ...compareWithBudget({
              check: 'start',
              name: bundle.name,
              unit: 'times the start of the bare client',
              budget: startBudgets[kind][group],
              measured: time.ratio,
            }),
            isMet: time.interval.low <= startBudgets[kind][group],
            interval: `${time.interval.low.toFixed(2)} to ${time.interval.high.toFixed(2)}`,
          }
        );
      });
    }
    return results;
  });
}

const checkMemory = async (): Promise<BudgetResult[]> =>
  (await measureMemoryInProcess()).map(({ functionName, memoryMb, peakMb }) =>
    compareWithBudget({
      check: 'memory',
      name: functionName,
      unit: '% of the memory',
      budget: memoryBudget,
      measured: (100 * peakMb) / memoryMb,
    }),
  );

/** Measures in another process: a process creates the dependencies once, for one table. */
async function measureMemoryInProcess(): Promise<readonly MemoryUse[]> {
  const child = fork(fileURLToPath(new URL('memory-process.ts', import.meta.url)));
  const failure = once(child, 'exit').then(([code]) => {
    throw new Error(`The measurement of memory ended with exit code ${code}.`);
  });
  const [uses] = await Promise.race([once(child, 'message'), failure]);
  return uses;
}

async function checkCosts(checks: readonly CheckName[], kind: BudgetKind): Promise<BudgetResult[]> {
  const { operations, months } = await measureCosts();
  return [
    ...(checks.includes('units')
      ? [
          ...compareOperations(operations, writeUnitBudgets[kind], {
            check: 'units',
            unit: 'write units',
            read: ({ writeUnits }) => writeUnits,
          }),
          ...compareOperations(operations, readUnitBudgets[kind], {
            check: 'units',
            unit: 'read units',
            read: ({ requestReadUnits }) => requestReadUnits,
          }),
          ...compareOperations(operations, tableCallBudgets[kind], {
            check: 'units',
            unit: 'table calls',
            read: ({ requestTableCalls }) => requestTableCalls,
          }),
        ]
      : []),
    ...(checks.includes('cost')
      ? [
          ...compareOperations(operations, dollarBudgets[kind], {
            check: 'cost',
            unit: 'dollars a million',
            read: ({ dollarsPerMillion }) => dollarsPerMillion,
          }),
          compareWithBudget({
            check: 'cost',
            name: 'no users',
            unit: 'dollars a month',
            budget: idleBudget,
            measured: months.find(({ users }) => users === 0)?.dollars ?? Number.NaN,
          }),
        ]
      : []),
  ];
}
