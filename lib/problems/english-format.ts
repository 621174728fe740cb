import { is } from 'valibot';
import { Platform, storeNames } from '../foundation/platform.ts';
import type { EpochMillis } from '../foundation/time.ts';
import type { ProblemFormat } from './describe-problems.ts';
import { formatDistance } from './format-distance.ts';

/** Creates the formats of alerts. */
export const createEnglishFormat = (now: EpochMillis): ProblemFormat => ({
  now,
  formatNumber: (value) => value.toLocaleString('en-US'),
  formatPlatform: (platform) => (is(Platform, platform) ? storeNames[platform].replace(/^The /, 'the ') : platform),
  formatRelative: (date) => formatDistance(date.getTime() - now, ['en-US']),
});
