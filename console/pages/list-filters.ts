import { formatPlatform } from '../format.ts';

const platforms = ['store_a', 'store_b', 'store_c', 'processor_a', 'service_processor_a', 'processor_b'] as const;

/** Stores by which lists can be filtered, with their names. */
export const stores = [
  ['', 'All'],
  ...platforms.map((platform) => [platform, formatPlatform(platform)] as const),
] as const;

/** Orders of a list. */
export const orders = [
  ['', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const;
