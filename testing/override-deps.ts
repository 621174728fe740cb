import type { Service } from '../lib/foundation/service.ts';
/** Returns dependencies with some members replaced. `base` does not change, and its other members stay lazy. */
export const overrideDeps = (base: Service, overrides: Partial<Service>): Service =>
  Object.create(base, Object.getOwnPropertyDescriptors(overrides));
