import { minuteMs } from '../../lib/foundation/time.ts';
import { selectStreamRecords } from '../units/stream.ts';
import { assumptions } from './assumptions.ts';
import { type CostService, requireNoFailures } from './cost-service.ts';
import type { Invocation } from './function-host.ts';
import { listStreamSettings } from './template.ts';

/** Writes markers of the stream once a minute. */
export const markerFunction = 'workers/enqueue-due-items';

/** Moves the latest markers a minute into the past, so that the next run writes the markers of its minute. */
export async function advanceMarkers(): Promise<void> {
  const { getService } = await import('../../lib/foundation/get-service.ts');
  const { markerLogKey } = await import('../../lib/foundation/keys.ts');
  const { table } = getService();
  const log = await table.get(markerLogKey());
  if (!log) return;
  const { countedUntil, groups } = log as { countedUntil: number; groups: readonly { createdAt: number }[] };
  const moved = groups.map((group) => ({ ...group, createdAt: group.createdAt - minuteMs }));
  await table.batchPut([{ ...log, countedUntil: countedUntil - minuteMs, groups: moved }]);
}

/** Invokes the stream workers with the markers that the run wrote, in a batch for each shard. */
export async function passMarkers(
  { template, invoke, takeInvocations }: CostService,
  run: readonly Invocation[],
): Promise<Invocation[]> {
  const calls = run.flatMap(({ tableCalls }) => tableCalls);
  const shards = Array.from({ length: assumptions.idleShards.value }, (_, shard) => shard);
  for (const functionName of listStreamSettings(template).keys()) {
    const records = selectStreamRecords(functionName.replace('workers/', ''), calls);
    for (const shard of shards) {
      const Records = records.filter((_record, index) => index % shards.length === shard);
      if (Records.length > 0)
        requireNoFailures(functionName, await invoke(functionName, { Records, shardId: `shard-${shard}` }));
    }
  }
  return takeInvocations();
}
