import * as v from 'valibot';
import type { EpochMillis } from '../shared/time.ts';
import { BucketUrl } from './bucket-location.ts';

/** The exports of an app that the service runs. */
export const ExportSchedule = v.object({
  location: BucketUrl,
  createdAt: v.number(),
  /** Start of the latest complete export of all rows. */
  fullAt: v.exactOptional(v.number()),
  /** Start of the latest complete export. */
  exportedAt: v.exactOptional(v.number()),
  /** Until then, a run exports the app. */
  leaseUntil: v.exactOptional(v.number()),
  /** Why the latest run failed. Absent after a successful one. */
  failure: v.exactOptional(v.string()),
});
export type ExportSchedule = v.InferOutput<typeof ExportSchedule>;

/** The outcome of a run. */
type ExportOutcome =
  | { readonly startedAt: EpochMillis; readonly kind: 'full' | 'changes' }
  | { readonly failure: string };

export interface ExportScheduleRepository {
  find(appName: string): Promise<ExportSchedule | undefined>;
  /** Replaces the schedule of an app. */
  set(appName: string, schedule: ExportSchedule): Promise<void>;
  remove(appName: string): Promise<void>;
  /** Leases the schedule to a run. Returns false if another run has the lease, or the schedule has changed. */
  lease(appName: string, schedule: ExportSchedule, range: { now: EpochMillis; until: EpochMillis }): Promise<boolean>;
  /** Ends the lease of a run. Does nothing if the lease is not the run's any longer. */
  finish(appName: string, leaseUntil: EpochMillis, outcome: ExportOutcome): Promise<void>;
}
