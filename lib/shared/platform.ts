import * as v from 'valibot';

/** Neutral tokens of the stores and payment processors. */
export const platforms = [
  'store_a',
  'store_b',
  'store_c',
  'processor_a',
  'service_processor_a',
  'processor_b',
] as const;

export const Platform = v.picklist(platforms);
export type Platform = v.InferOutput<typeof Platform>;

/** Returns `{platform}:{id}`, the format of ids in v3 records. */
export const withPlatform = (platform: Platform, id: string): string => `${platform}:${id}`;

/** Removes the platform prefix; v1 responses have ids without it. */
export const withoutPlatform = (prefixedId: string): string => prefixedId.slice(prefixedId.indexOf(':') + 1);
