import { getItemKind } from './item-kind.ts';
import { countItemBytes } from './item-size.ts';
import type { MeteredCall } from './meter.ts';

/** Units that calls have used, by the documented rules and as the engine reports them. */
export interface Usage {
  readonly table: number;
  readonly indexes: number;
  readonly read: number;
  readonly engineWrite: number;
  readonly engineRead: number;
}

/** The units of all calls together. */
export function sumUsage(calls: readonly MeteredCall[]): Usage {
  const sum = (batch: readonly MeteredCall[], units: (call: MeteredCall) => number): number =>
    batch.reduce((total, call) => total + units(call), 0);
  const isWrite = ({ writes }: MeteredCall): boolean => writes.length > 0;
  return {
    table: sum(calls, ({ writes }) => writes.reduce((total, { table }) => total + table, 0)),
    indexes: sum(calls, ({ writes }) => writes.reduce((total, { index }) => total + index, 0)),
    read: sum(calls, ({ read }) => read),
    engineWrite: sum(calls.filter(isWrite), ({ engine }) => engine),
    engineRead: sum(
      calls.filter((call) => !isWrite(call)),
      ({ engine }) => engine,
    ),
  };
}

/** The calls that write, item by item; the engine's figure stands with the first item of each call. */
export const buildWriteRows = (step: string, calls: readonly MeteredCall[]) =>
  calls.flatMap(({ operation, isConditionFailed, writes, engine }) =>
    writes.map(({ key, change: { before, after }, table, index }, place) => ({
      step,
      call: place > 0 ? '' : isConditionFailed ? `${operation}, refused` : operation,
      item: getItemKind(key),
      bytes: countItemBytes(after ?? before ?? {}),
      table,
      indexes: index,
      engine: place > 0 ? '' : engine,
    })),
  );
