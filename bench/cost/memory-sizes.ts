import { computeDollars, prices } from '../prices.ts';
import type { Invocation } from './function-host.ts';
import { type CostSettings, computeInvocationCost } from './operation-costs.ts';
import type { MeasuredOperation } from './run-operations.ts';

/** Memory sizes that are compared, in MB. With 1,769 MB, a function has one vCPU. */
export const comparedSizes = [256, 512, 768, 1_024, 1_769] as const;

/** One function with one memory size. */
export interface MemorySize {
  readonly functionName: string;
  readonly memoryMb: number;
  /** The template gives the function this size. */
  readonly isChosen: boolean;
  /** Mean billed time of an invocation, with its share of starts. */
  readonly billedMs: number;
  /** Dollars of the time of a million invocations. */
  readonly dollarsPerMillion: number;
}

/** Computes the time and the price of each function that the operations invoke at the steady rate, by memory size. */
export function computeMemorySizes(operations: readonly MeasuredOperation[], settings: CostSettings): MemorySize[] {
  const byFunction = new Map<string, Invocation[]>();
  for (const invocation of operations.filter(({ load }) => load === 'steady').flatMap((each) => each.invocations)) {
    const others = byFunction.get(invocation.functionName) ?? [];
    byFunction.set(invocation.functionName, [...others, invocation]);
  }
  return [...byFunction].flatMap(([functionName, invocations]) =>
    comparedSizes.map((memoryMb) => computeMemorySize({ functionName, invocations }, memoryMb, settings)),
  );
}

function computeMemorySize(
  { functionName, invocations }: { readonly functionName: string; readonly invocations: readonly Invocation[] },
  memoryMb: number,
  settings: CostSettings,
): MemorySize {
  const present = settings.functions.get(functionName);
  if (!present) throw new Error(`${functionName} is not a function of the template.`);
  const functions = new Map([[functionName, { ...present, memoryMb }]]);
  const costs = invocations.map((invocation) => computeInvocationCost(invocation, { ...settings, functions }));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const lambdaTime = mean(costs.map(({ quantities }) => quantities.lambdaTime ?? 0));
  return {
    functionName,
    memoryMb,
    isChosen: present.memoryMb === memoryMb,
    billedMs: mean(costs.map(({ billedMs }) => billedMs)),
    dollarsPerMillion: computeDollars(prices.lambdaTime, lambdaTime) * 1_000_000,
  };
}
