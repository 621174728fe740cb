import { isBucketUrl } from '../../lib/export/bucket-location.ts';
import type { ExportStorage } from '../../lib/export/export-target.ts';
import { openBucketTarget } from '../../lib/export/s3-object-store.ts';
import { createFolderTarget } from './folder-target.ts';

/** Opens the target of exports in a folder, or below a prefix of a bucket (`s3://bucket/prefix`). */
export const openExportStorage = async (location: string): Promise<ExportStorage> =>
  isBucketUrl(location) ? await openBucketTarget(location) : await createFolderTarget(location);
