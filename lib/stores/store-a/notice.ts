import { ServiceError } from '../../errors.ts';
import type { Observation } from '../../purchases/observation.ts';
import type { Asking, Noticed, StoreMessage } from '../store.ts';
import { apiToken } from './api-token.ts';
import { appStoreServer } from './app-store-server.ts';
import { promptly } from './deadline.ts';
import type { Line } from './lines.ts';
import { partsIn } from './notification.ts';
import { observationOf } from './observe.ts';
import { readLine } from './read-line.ts';
import { reasonOf } from './reason-of.ts';
import { apiKeyOf, storeASettings } from './settings.ts';
import { pastLine, presentLine, type Told, tellsPresentState } from './told.ts';
import { type Trust, trustOf } from './trust.ts';

/** Not a change but a question to the developer, which comes again and again while a refund is decided. */
const question = 'CONSUMPTION_REQUEST';

/** What a notification tells: the present state by Apple's API where that can be asked, else by the signed parts alone. */
export async function notice(message: StoreMessage, asking: Asking): Promise<Noticed> {
  const reason = reasonOf(message.type);
  if (message.type === question || message.content.transaction === undefined) return { reason, observations: [] };
  const settings = storeASettings(asking.settings);
  const trust = trustOf(settings, asking);
  const parts = partsIn(message, trust);
  if (!parts) return { reason, observations: [] };
  const told = { ...parts, type: message.type, at: message.at };
  const line = await lineNow(told, asking, trust);
  const observation = line ? observed(line, asking) : pastOnly(told, asking);
  return { reason, observations: [withChangeOfIntent(observation, told)] };
}

/** The purchase as it is; undefined when only a past period of it is known. */
async function lineNow(told: Told, asking: Asking, trust: Trust): Promise<Line | undefined> {
  const signed = tellsPresentState(told) ? presentLine(told) : undefined;
  const read = await readAgain(told, asking, trust);
  // Apple's answers may be behind its notifications.
  return read && (!signed || read.asOf >= signed.asOf) ? read : signed;
}

/** Undefined without an API key and when Apple gives no answer: what it signed is enough to know. */
async function readAgain(told: Told, asking: Asking, trust: Trust): Promise<Line | undefined> {
  const settings = storeASettings(asking.settings);
  const key = apiKeyOf(settings);
  if (!key) return undefined;
  try {
    const server = appStoreServer(promptly(asking.fetch), apiToken(key, settings.bundleId, trust.now));
    return await readLine(told, { server, environment: told.environment, trust });
  } catch (thrown) {
    if (!(thrown instanceof ServiceError)) throw thrown;
    return undefined;
  }
}

/** A transaction that says nothing of the present period: it is added, and the state that is known remains. */
const pastOnly = (told: Told, asking: Asking): Observation => ({
  ...observed(pastLine(told), asking),
  transactionsAsOf: told.at,
});

/** Without the length of a non-renewing subscription a refresh token would only take the place of a better one. */
function observed(line: Line, asking: Asking): Observation {
  const canRefresh = apiKeyOf(storeASettings(asking.settings)) !== undefined;
  return observationOf(line, {}, canRefresh && line.latest.productType !== 'non renewing subscription');
}

/**
 * Only the notification tells when the customer changed their mind; of several the latest counts, so it does not matter
 * which of them the present state shows.
 */
function withChangeOfIntent(observation: Observation, { type, at }: Told): Observation {
  const { purchase } = observation;
  if (purchase.renewalIntent === undefined || !type.startsWith('DID_CHANGE_RENEWAL_STATUS')) return observation;
  return { ...observation, purchase: { ...purchase, renewalIntentChangeDate: at } };
}
