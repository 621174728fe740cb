import { parseBucketUrl } from '../lib/export/bucket-location.ts';
import { createBucketTarget } from '../lib/export/bucket-target.ts';
import type { ExportStorage } from '../lib/export/export-target.ts';
import { objectStore } from './object-store.ts';

/** Opens the exports at a location such as `s3://bucket/prefix`. */
export const openBucketTarget = async (location: string): Promise<ExportStorage> =>
  await createBucketTarget(parseBucketUrl(location), objectStore());
