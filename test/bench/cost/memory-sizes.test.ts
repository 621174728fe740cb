import { describe, expect, it } from '@jest/globals';
import { assumptions } from '../../../bench/cost/assumptions.ts';
import type { Invocation } from '../../../bench/cost/function-host.ts';
import { comparedSizes, computeMemorySizes } from '../../../bench/cost/memory-sizes.ts';
import { prices } from '../../../bench/prices.ts';

const invocation: Invocation = {
  functionName: 'area/read',
  cpuMs: 100,
  logBytes: 0,
  responseBytes: 700,
  calls: [{ target: 'table', startedAt: 0, endedAt: 1, requestBytes: 0 }],
  tableCalls: [],
};
const settings = {
  functions: new Map([['area/read', { memoryMb: 512, systemLogLevel: 'WARN', readsSecret: false } as const]]),
  accessLogFormat: '{}',
  starts: new Map([['area/read', 50]]),
};
const [steady, quiet] = (['steady', 'quiet'] as const).map((load) => ({
  name: 'read',
  load,
  count: 2,
  invocations: [invocation, { ...invocation, cpuMs: load === 'steady' ? 300 : 9_000 }],
}));
if (!steady || !quiet) throw new Error('There are no operations.');

describe('computeMemorySizes', () => {
  it('stretches the CPU time of the steady rate by the share of a vCPU, but not the wait and the start', () => {
    const sizes = computeMemorySizes([quiet, steady], settings);
    expect(sizes.map(({ memoryMb }) => memoryMb)).toEqual([...comparedSizes]);
    const startMs = assumptions.startShare.value * (assumptions.runtimeStartMs.value + 50);
    for (const { memoryMb, billedMs, dollarsPerMillion } of sizes) {
      const durations = [100, 300].map((cpuMs) => Math.ceil((cpuMs * 1_769) / memoryMb + 5) + startMs);
      const mean = (Number(durations[0]) + Number(durations[1])) / 2;
      expect(billedMs).toBeCloseTo(mean, 6);
      expect(dollarsPerMillion).toBeCloseTo(mean * (memoryMb / 1_024) * 1_000 * prices.lambdaTime.tiers[0].usd, 6);
    }
  });

  it('marks the size of the template', () => {
    const chosen = computeMemorySizes([steady], settings).filter(({ isChosen }) => isChosen);
    expect(chosen.map(({ functionName, memoryMb }) => [functionName, memoryMb])).toEqual([['area/read', 512]]);
  });

  it('rejects a function that the template does not have', () => {
    expect(() => computeMemorySizes([steady], { ...settings, functions: new Map() })).toThrow('area/read');
  });
});
