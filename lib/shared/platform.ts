import * as v from 'valibot';

/** The stores and processors, by the neutral tokens of the specification. */
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

/** `{platform}:{id}`, the form of every id in v3 records. */
export const withPlatform = (platform: Platform, id: string): string => `${platform}:${id}`;

/** The id without its platform, the form of v1 answers. */
export const withoutPlatform = (prefixedId: string): string => prefixedId.slice(prefixedId.indexOf(':') + 1);
