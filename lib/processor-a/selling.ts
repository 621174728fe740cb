import type { App } from '../apps/app.ts';
import type { Grant } from '../db/access-tokens.ts';
import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import type { Recorder } from '../events/recorder.ts';
import { askingOf } from '../http/asking.ts';
import type { Platform } from '../purchases/platform.ts';
import { openAccount } from '../stores/processor-a/account.ts';
import { answered } from '../stores/processor-a/client.ts';
import type { Look } from '../stores/processor-a/looks.ts';
import type { ProcessorAPlatform } from '../stores/processor-a/origin.ts';
import { readSession } from '../stores/processor-a/reads.ts';
import { sellingPlatform } from './selling-platform.ts';

/** A request that sells through the processor. */
export interface Selling {
  readonly app: App;
  readonly event: Recorder;
  readonly deps: Deps;
}

/** The account, of the platform that a token is for or of the one that the application sells through. */
export async function accountOf(selling: Selling, platform?: ProcessorAPlatform): Promise<Look> {
  const { app, deps } = selling;
  const sold = platform ?? (await sellingPlatform(app.name, deps.cachedApps));
  return openAccount(sold, await askingOf(app.name, sold, selling));
}

/** What a token opens. Throws `Forbidden` in the words that make clients forget their token. */
export async function grantOf<G extends Grant>(
  found: Promise<G | undefined>,
): Promise<G & { platform: ProcessorAPlatform }> {
  const grant = await found;
  if (!grant || !isProcessorA(grant.platform)) throw invalidToken();
  return { ...grant, platform: grant.platform };
}

/** The error of a token that is not good, or not for this. */
export const invalidToken = (): ServiceError => new ServiceError('Forbidden', 'Invalid access token');

/** The customer behind a grant; before a first payment the session alone knows, or nobody does. */
export async function buyerOf({ customer, session }: Grant, { stripe }: Look): Promise<string | undefined> {
  if (customer !== undefined || session === undefined) return customer;
  return (await answered(() => readSession(stripe, session))).customer ?? undefined;
}

const isProcessorA = (platform: Platform): platform is ProcessorAPlatform =>
  platform === 'processor_a' || platform === 'service_processor_a';
