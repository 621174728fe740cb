import type { OperationCost } from './cost/operation-costs.ts';

/** A limit and the measured figure. */
export interface BudgetResult {
  /** Measure that the budget belongs to. */
  readonly check: CheckName;
  readonly name: string;
  readonly unit: string;
  readonly budget: number;
  readonly measured: number;
  readonly isMet: boolean;
  /** 90 % interval of the figure, if it is a time. */
  readonly interval?: string;
}

export const checkNames = ['units', 'cost', 'memory', 'bundles', 'start'] as const;
export type CheckName = (typeof checkNames)[number];

/** `targets`: what the service is to cost. `limits`: the reached figures, rounded up, that a change must not exceed. */
export type BudgetKind = 'targets' | 'limits';

/** Keys are the starts of names of operations. */
type OperationBudgets = Readonly<Record<string, number>>;

/** Dollars of one million operations at the steady rate. */
export const dollarBudgets: Readonly<Record<BudgetKind, OperationBudgets>> = {
  targets: {
    'validation, new': 25,
    'validation, repeated': 9,
    'read, ': 7,
    'read without an event': 5,
    'notification with its webhook': 28,
    refresh: 8,
  },
  // A part is processor time, which differs between machines: a quarter more than measured.
  limits: {
    'validation, new': 36,
    'validation, repeated': 12.5,
    'read, ': 11,
    'read without an event': 6.5,
    'notification with its webhook': 39,
    refresh: 10,
    'credits, validation that gives them': 38,
    'credits, give': 12,
    'credits, spend': 11.5,
    'credits, capture': 12,
  },
};

/** Dollars of a month without users. Processor time is 0.09 of it. The metric of an alarm costs 0.10. */
export const idleBudget = 13.25;

/**
 * Write units of one operation at the steady rate, workers and events included. The limits are the reached figures and
 * two percent: a slower machine reads the caches of an app again more often.
 */
export const writeUnitBudgets: Readonly<Record<BudgetKind, OperationBudgets>> = {
  targets: { 'validation, new': 25, 'validation, repeated': 5, 'read, ': 2 },
  limits: {
    'validation, new': 31.5,
    'validation, repeated': 4.3,
    'read, ': 2.2,
    'notification with its webhook': 31.6,
    refresh: 7.2,
    'credits, validation of another product': 25.9,
    'credits, validation that gives them': 33,
    'credits, give': 7.3,
    'credits, spend': 7.3,
    'credits, capture': 7.3,
  },
};

/** Read units of one request, without workers. */
export const readUnitBudgets: Readonly<Record<BudgetKind, OperationBudgets>> = {
  targets: { 'read, purchases of a customer': 4 },
  limits: { 'read, purchases of a customer': 4.1, 'credits, spend': 1.1 },
};

/** Table calls of one request by an instance with filled caches. */
export const tableCallBudgets: Readonly<Record<BudgetKind, OperationBudgets>> = {
  targets: { 'validation, new': 9, 'validation, repeated': 2, 'read, ': 2 },
  limits: {
    'validation, new': 13,
    // As many as a validation of an app without credits.
    'credits, validation of another product': 13,
    'validation, repeated at once': 3,
    'validation, repeated later': 4,
    'read, customer': 4,
    'read, purchases of a customer': 3,
    'read, subscription of a customer': 3,
    'read, transactions of a customer': 3,
  },
};

/**
 * Import time of functions in multiples of a bare document client with the same build. Exports load a client of Amazon
 * S3, which no request waits for. A budget is missed if the 90 % interval of the figure lies above it.
 */
export const startBudgets = {
  targets: { reads: 1.1, 'validate-receipt': 1.25, workers: 1.15, exports: 1.5 },
  limits: { reads: 1.4, 'validate-receipt': 1.65, workers: 1.5, exports: 1.65 },
} as const satisfies Record<BudgetKind, object>;

/**
 * Size and number of files that a start loads, in multiples of the bare document client with the same build. The limits
 * are the current figures rounded up: they prevent growth, and the start times are the targets.
 */
export const bundleBudgets = {
  size: { reads: 1.74, 'validate-receipt': 2.1, workers: 2.02, exports: 2.33 },
  files: { reads: 1.5, 'validate-receipt': 1.5, workers: 1.5, exports: 1.5 },
} as const;

/**
 * Resident set of a worker of a queue in the worst case, in percent of its memory. Lambda's own processes and another
 * version of Node.js need the rest.
 */
export const memoryBudget = 80;

export const compareWithBudget = (result: Omit<BudgetResult, 'isMet'>): BudgetResult => ({
  ...result,
  isMet: result.measured <= result.budget,
});

/**
 * Compares one figure of each operation with the budgets whose key starts its name. Throws if nothing is measured for a
 * budget.
 */
export function compareOperations(
  operations: readonly OperationCost[],
  budgets: OperationBudgets,
  { check, unit, read }: { check: CheckName; unit: string; read: (operation: OperationCost) => number },
): BudgetResult[] {
  return Object.entries(budgets).flatMap(([prefix, budget]) => {
    const matching = operations.filter(({ name, load }) => load === 'steady' && name.startsWith(prefix));
    if (matching.length === 0) throw new Error(`The budget ${prefix} has no operation.`);
    return matching.map((operation) =>
      compareWithBudget({ check, name: operation.name, unit, budget, measured: read(operation) }),
    );
  });
}

export const findBudget = (budgets: OperationBudgets, name: string): number | undefined =>
  Object.entries(budgets).find(([prefix]) => name.startsWith(prefix))?.[1];

/**
 * Formats the result of a check as one sentence: the figures of the missed budgets, or of all budgets if none is
 * missed.
 */
export function summarizeBudgets(results: readonly BudgetResult[]): string {
  const missed = results.filter(({ isMet }) => !isMet);
  if (missed.length === 0) return `All ${results.length} budgets are met: ${formatWorst(results)}.`;
  return `${missed.length} of ${results.length} budgets are missed: ${formatWorst(missed)}.`;
}

/** Formats the worst figure of each budget that several functions or operations share. */
function formatWorst(results: readonly BudgetResult[]): string {
  const groups = new Map<string, BudgetResult[]>();
  for (const result of results) {
    const key = `${result.check} ${result.unit} ${result.budget}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()]
    .map((group) => {
      const worst = group.reduce((a, b) => (b.measured > a.measured ? b : a));
      const { name, measured, budget, unit } = worst;
      const others = group.length > 1 ? ` (worst of ${group.length})` : '';
      return `${name}${others} ${formatFigure(measured)} of ${formatFigure(budget)} ${unit}`;
    })
    .join(', ');
}

const formatFigure = (value: number): string => String(Number(value.toFixed(2)));
