import { describe, expect, it } from '@jest/globals';
import { type CheckName, compareOperations, compareWithBudget, summarizeBudgets } from '../../bench/budgets.ts';
import { getFunctionGroup } from '../../bench/check.ts';
import type { OperationCost } from '../../bench/cost/operation-costs.ts';

const createOperation = (name: string, writeUnits: number, load: 'quiet' | 'steady' = 'steady') =>
  ({ name, load, writeUnits }) as OperationCost;
const options = {
  check: 'units' as CheckName,
  unit: 'write units',
  read: ({ writeUnits }: OperationCost): number => writeUnits,
};

describe('compareOperations', () => {
  it('compares every operation whose name starts with the key, at the steady rate', () => {
    const operations = [
      createOperation('read, a', 2),
      createOperation('read, b', 2.1),
      createOperation('read, b', 9, 'quiet'),
    ];
    expect(compareOperations(operations, { 'read, ': 2 }, options)).toMatchObject([
      { name: 'read, a', isMet: true },
      { name: 'read, b', isMet: false, measured: 2.1, budget: 2 },
    ]);
  });

  it('throws if nothing is measured for a budget', () => {
    expect(() => compareOperations([], { 'read, ': 2 }, options)).toThrow('read, ');
  });
});

describe('summarizeBudgets', () => {
  const result = { check: 'units', name: 'a', unit: 'units', budget: 5 } as const;

  it('names the figures of all budgets if all are met', () => {
    const results = [compareWithBudget({ ...result, measured: 5 })];
    expect(summarizeBudgets(results)).toBe('All 1 budgets are met: a 5 of 5 units.');
  });

  it('names the figures of the missed budgets', () => {
    const results = [
      compareWithBudget({ ...result, measured: 4 }),
      compareWithBudget({ ...result, name: 'b', measured: 5.126 }),
    ];
    expect(summarizeBudgets(results)).toBe('1 of 2 budgets are missed: b 5.13 of 5 units.');
  });

  it('names the worst figure of a shared budget', () => {
    const results = [4, 7, 6].map((measured) => compareWithBudget({ ...result, name: `f${measured}`, measured }));
    expect(summarizeBudgets(results)).toBe('2 of 3 budgets are missed: f7 (worst of 2) 7 of 5 units.');
  });

  it('does not meet a budget without a figure', () => {
    expect(compareWithBudget({ ...result, measured: Number.NaN }).isMet).toBe(false);
  });
});

describe('getFunctionGroup', () => {
  it('groups reads, the validation and the workers', () => {
    expect(getFunctionGroup('customers/get-customer-purchases')).toBe('reads');
    expect(getFunctionGroup('validation/validate-receipt')).toBe('validate-receipt');
    expect(getFunctionGroup('workers/send-webhook')).toBe('workers');
    expect(getFunctionGroup('workers/export-apps')).toBe('exports');
    expect(getFunctionGroup('stripe/create-checkout')).toBeUndefined();
  });
});
