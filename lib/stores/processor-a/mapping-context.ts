import { ServiceError } from '../../shared/errors.ts';
import { type Platform, withPlatform } from '../../shared/platform.ts';
import type { EpochMillis } from '../../shared/time.ts';

/** The platforms that this processor sells for: an application's own account, and the deployment's. */
export type ProcessorAPlatform = Extract<Platform, 'processor_a' | 'service_processor_a'>;

/** Whose look it is: the platform that ids are prefixed with, the application, the grace setting and the time. */
export interface MappingContext {
  readonly platform: ProcessorAPlatform;
  readonly appName: string;
  readonly graceMs: number;
  readonly now: EpochMillis;
}

/** `{platform}:{product}#{price}`. */
export const toOfferId = ({ platform }: Pick<MappingContext, 'platform'>, product: string, price: string): string =>
  `${withPlatform(platform, product)}#${price}`;

/** Throws `InvalidPayload` for what was sold, on the same account, for another application of this service. */
export function requireOwnApp(
  { appName }: Pick<MappingContext, 'appName'>,
  metadata: Readonly<Record<string, string>> | null,
): void {
  if (metadata?.app !== undefined && metadata.app !== appName) {
    throw new ServiceError('InvalidPayload', 'This was sold for another application.');
  }
}

/** The application's user as the processor echoes it; older sellers wrote the second form. */
export const readUserAliases = (metadata: Readonly<Record<string, string>> | null): string[] =>
  [metadata?.applicationUsername, metadata?.application_username].filter((user) => user !== undefined).slice(0, 1);
