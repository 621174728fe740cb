import { getItemKind } from './item-kind.ts';
import { countItemBytes } from './item-size.ts';
import type { MeteredCall } from './meter.ts';

/** Capacity units by the documented rules, and as the database engine reports them. */
export interface Usage {
  readonly table: number;
  readonly indexes: number;
  readonly read: number;
  readonly engineWrite: number;
  readonly engineRead: number;
}

/** Adds up the units of all calls. */
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

/** Builds one row per written item. The first row of a call has the engine's figure of the whole call. */
export const buildWriteRows = (step: string, calls: readonly MeteredCall[]) =>
  calls.flatMap(({ operation, isConditionFailed, writes, engine }) =>
    writes.map(({ key, change: { before, after }, table, index }, position) => ({
      step,
      call: position > 0 ? '' : isConditionFailed ? `${operation}, condition failed` : operation,
      item: getItemKind(key),
      bytes: countItemBytes(after ?? before ?? {}),
      table,
      indexes: index,
      engine: position > 0 ? '' : engine,
    })),
  );
