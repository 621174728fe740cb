import * as v from 'valibot';
import { OptionalNumber, OptionalText } from '../api/schemas.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { BucketUrl } from './bucket-location.ts';

/** The exports of an app that the service runs. */
export const ExportSchedule = v.object({
  location: BucketUrl,
  createdAt: v.number(),
  /** Start of the latest complete export of all rows. */
  fullAt: OptionalNumber,
  /** Start of the latest complete export. */
  exportedAt: OptionalNumber,
  /** Until then, a run exports the app. */
  leaseUntil: OptionalNumber,
  /** Why the latest run failed, or did not export all rows. Absent after a successful one. */
  failure: OptionalText,
});
export type ExportSchedule = v.InferOutput<typeof ExportSchedule>;

/** The outcome of a run. */
export type ExportOutcome =
  | { readonly startedAt: EpochMillis; readonly kind: 'full' | 'changes'; readonly failure?: string | undefined }
  | { readonly failure: string };
