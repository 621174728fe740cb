import * as v from 'valibot';
import { parse } from '../foundation/parse.ts';

/** A bucket and a prefix of its keys, without slashes at its ends. */
export interface BucketLocation {
  readonly bucket: string;
  readonly prefix: string;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html */
const pattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([\w!.*'()=-]+(?:\/[\w!.*'()=-]+)*)\/?$/;

/** The location of exports in Amazon S3. Each app needs its own prefix. */
export const BucketUrl = v.pipe(v.string(), v.regex(pattern, 'a location such as s3://bucket/prefix'));

export const isBucketUrl = (location: string): boolean => location.startsWith('s3://');

/** Parses a location. Throws `InvalidPayload` if it has another format. */
export function parseBucketUrl(url: string): BucketLocation {
  const [, bucket = '', prefix = ''] =
    pattern.exec(parse(v.object({ location: BucketUrl }), { location: url }).location) ?? [];
  return { bucket, prefix };
}
